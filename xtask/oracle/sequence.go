package main

import (
	"encoding/json"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// sequence is a series of writes to one object, and the schemas of its versions before and after a change of
// its definition.
type sequence struct {
	Kind string `json:"kind"`
	// Versions[phase] maps an API version to its schema.
	Versions []map[string]json.RawMessage `json:"versions"`
	// Reset maps an API version to the paths that a write through it puts back.
	Reset  map[string][][]string `json:"reset"`
	Writes []write               `json:"writes"`
}

type write struct {
	Verb        string          `json:"verb"`
	Phase       int             `json:"phase"`
	Manager     string          `json:"manager"`
	APIVersion  string          `json:"apiVersion"`
	Subresource string          `json:"subresource"`
	Force       bool            `json:"force"`
	Body        json.RawMessage `json:"body"`
}

type outcome struct {
	Object any            `json:"object,omitempty"`
	Error  string         `json:"error,omitempty"`
	Status *metav1.Status `json:"status,omitempty"`
}

// sameShape converts between versions that differ in nothing but their name.
type sameShape map[string]bool

func (sameShape) Convert(in, out, context any) error { return fmt.Errorf("not asked for") }

func (sameShape) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", fmt.Errorf("not asked for")
}

func (known sameShape) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	object := in.(*unstructured.Unstructured).DeepCopy()
	kind, _ := to.KindForGroupVersionKinds([]schema.GroupVersionKind{object.GroupVersionKind()})
	version := kind.GroupVersion().String()
	if !known[version] {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", version)
	}
	object.SetAPIVersion(version)
	return object, nil
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

type blank struct{}

func (blank) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// types builds what a server builds from a definition with these versions.
func (s *sequence) types(phase int, known sameShape) (managedfields.TypeConverter, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	definition.Name = "things.example.com"
	definition.Spec.Group = "example.com"
	definition.Spec.Scope = apiextensionsv1.NamespaceScoped
	definition.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "things", Singular: "thing", Kind: s.Kind, ListKind: s.Kind + "List",
	}
	for version, raw := range s.Versions[phase] {
		props := &apiextensionsv1.JSONSchemaProps{}
		if err := json.Unmarshal(raw, props); err != nil {
			return nil, err
		}
		group, _ := schema.ParseGroupVersion(version)
		definition.Spec.Versions = append(definition.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: group.Version, Served: true, Storage: version == "example.com/v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
		})
		known[version] = true
	}
	schemas := map[string]*spec.Schema{}
	for _, version := range definition.Spec.Versions {
		built, err := builder.BuildOpenAPIV3(definition, version.Name, builder.Options{})
		if err != nil {
			return nil, err
		}
		for name, schema := range built.Components.Schemas {
			schemas[name] = schema
		}
	}
	return managedfields.NewTypeConverter(schemas, false)
}

func (s *sequence) run() ([]outcome, error) {
	known := sameShape{}
	var types []managedfields.TypeConverter
	for phase := range s.Versions {
		// Most of the time goes into building them, and most definitions stay as they are.
		if phase > 0 && reflect.DeepEqual(s.Versions[phase], s.Versions[phase-1]) {
			types = append(types, types[phase-1])
			continue
		}
		converter, err := s.types(phase, known)
		if err != nil {
			return nil, err
		}
		types = append(types, converter)
	}
	reset := map[fieldpath.APIVersion]*fieldpath.Set{}
	for version, paths := range s.Reset {
		set := fieldpath.NewSet()
		for _, path := range paths {
			var parts []any
			for _, part := range path {
				parts = append(parts, part)
			}
			set.Insert(fieldpath.MakePathOrDie(parts...))
		}
		reset[fieldpath.APIVersion(version)] = set
	}
	filters := fieldpath.NewExcludeFilterSetMap(reset)
	hub, _ := schema.ParseGroupVersion("example.com/v1")
	var live *unstructured.Unstructured
	var outcomes []outcome
	for _, write := range s.Writes {
		group, _ := schema.ParseGroupVersion(write.APIVersion)
		kind := group.WithKind(s.Kind)
		manager, err := managedfields.NewDefaultCRDFieldManager(
			types[write.Phase], known, noDefaults{}, blank{}, kind, hub, write.Subresource, filters)
		if err != nil {
			return nil, err
		}
		current, _ := blank{}.New(kind)
		if live != nil {
			shown := live.DeepCopy()
			shown.SetAPIVersion(write.APIVersion)
			current = shown
		}
		written, err := write.apply(manager, current)
		result := outcome{}
		if err != nil {
			result.Error = err.Error()
			if refused, ok := err.(apierrors.APIStatus); ok {
				status := refused.Status()
				result.Status = &status
			}
		}
		if written != nil {
			live = written.DeepCopyObject().(*unstructured.Unstructured)
			result.Object = written.(*unstructured.Unstructured).Object
			if live.GetUID() == "" {
				live.SetUID("u")
			}
		}
		outcomes = append(outcomes, result)
	}
	return outcomes, nil
}

// apply gives the new object, or an error, or both: an update whose ownership can't be told still happens.
func (w *write) apply(manager *managedfields.FieldManager, current runtime.Object) (runtime.Object, error) {
	body := &unstructured.Unstructured{Object: map[string]any{}}
	switch w.Verb {
	case "apply", "update":
		if err := utiljson.Unmarshal(w.Body, &body.Object); err != nil {
			return nil, err
		}
	default:
		before, err := json.Marshal(current.(*unstructured.Unstructured).Object)
		if err != nil {
			return nil, err
		}
		after, err := w.patch(before)
		if err != nil {
			return nil, fmt.Errorf("patch: %w", err)
		}
		if err := utiljson.Unmarshal(after, &body.Object); err != nil {
			return nil, err
		}
	}
	if w.Verb == "apply" {
		return manager.Apply(current, body, w.Manager, w.Force)
	}
	written, err := manager.Update(current, body.DeepCopy(), w.Manager)
	if err != nil {
		return manager.UpdateNoErrors(current, body, w.Manager), err
	}
	return written, nil
}

func (w *write) patch(before []byte) ([]byte, error) {
	switch w.Verb {
	case "merge":
		return jsonpatch.MergePatch(before, w.Body)
	case "json":
		patch, err := jsonpatch.DecodePatch(w.Body)
		if err != nil {
			return nil, err
		}
		return patch.Apply(before)
	}
	return nil, fmt.Errorf("unknown verb %q", w.Verb)
}
