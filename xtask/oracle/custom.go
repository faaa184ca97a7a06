package main

import (
	"context"
	"encoding/json"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// custom is an object of a custom resource, and what it was before if it is an update.
type custom struct {
	Schema json.RawMessage `json:"schema"`
	Object json.RawMessage `json:"object"`
	Old    json.RawMessage `json:"old"`
}

type judged struct {
	// Object is pruned and has its defaults.
	Object any      `json:"object"`
	Pruned []string `json:"pruned"`
	Errors []string `json:"errors"`
}

func (c *custom) run() (*judged, error) {
	var outer v1.JSONSchemaProps
	if err := json.Unmarshal(c.Schema, &outer); err != nil {
		return nil, err
	}
	var inner apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&outer, &inner, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&inner)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&inner)
	if err != nil {
		return nil, err
	}
	var unknown []string
	read := func(raw json.RawMessage) (map[string]any, error) {
		var object map[string]any
		if err := utiljson.Unmarshal(raw, &object); err != nil {
			return nil, err
		}
		unknown = pruning.PruneWithOptions(object, structural, true,
			structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		defaulting.PruneNonNullableNullsWithoutDefaults(object, structural)
		defaulting.Default(object, structural)
		return object, nil
	}
	var old map[string]any
	if len(c.Old) > 0 && string(c.Old) != "null" {
		if old, err = read(c.Old); err != nil {
			return nil, err
		}
	}
	object, err := read(c.Object)
	if err != nil {
		return nil, err
	}
	errors := c.validate(structural, validator, object, old)
	result := &judged{Object: object, Pruned: unknown, Errors: []string{}}
	for _, problem := range errors {
		result.Errors = append(result.Errors, problem.Error())
	}
	return result, nil
}

// validate does what the strategy of custom resources does.
func (c *custom) validate(structural *structuralschema.Structural, validator validation.SchemaValidator, object, old map[string]any) field.ErrorList {
	var errors field.ErrorList
	// A nil map in an interface is not nil.
	var before any
	var ratcheting []cel.Option
	if old == nil {
		errors = append(errors, validation.ValidateCustomResource(nil, object, validator)...)
		errors = append(errors, objectmeta.Validate(nil, object, structural, false)...)
		errors = append(errors, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
	} else {
		before = old
		correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: structural})
		ratcheting = append(ratcheting, cel.WithRatcheting(correlated))
		errors = append(errors, validation.ValidateCustomResourceUpdate(
			nil, object, old, validator, validation.WithRatcheting(correlated))...)
		errors = append(errors, objectmeta.Validate(nil, object, structural, false)...)
		if len(listtype.ValidateListSetsAndMaps(nil, structural, old)) == 0 {
			errors = append(errors, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
		}
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	if rules == nil {
		return errors
	}
	for _, problem := range errors {
		switch problem.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			blocked := "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
			return append(errors, field.Invalid(nil, nil, blocked))
		}
	}
	found, _ := rules.Validate(context.Background(), nil, structural, object, before, celconfig.RuntimeCELCostBudget, ratcheting...)
	return append(errors, found...)
}
