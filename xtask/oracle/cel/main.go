// Command cel answers CEL questions with the real library in the environment of a real server.
// It reads one JSON request per line and writes one JSON answer per line, so that the expression
// room can be compared with it. With the argument "dump" it lists every declared overload.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/google/cel-go/checker"
)

var _ = schemacel.ScopedVarName

type variable struct {
	Type   string           `json:"type,omitempty"`
	Schema *json.RawMessage `json:"schema,omitempty"`
	Value  any              `json:"value"`
}

type request struct {
	Expr string              `json:"expr"`
	Env  string              `json:"env,omitempty"`
	Vars map[string]variable `json:"vars,omitempty"`
}

type answer struct {
	Compile  string   `json:"compile,omitempty"`
	Program  string   `json:"program,omitempty"`
	Type     string   `json:"type,omitempty"`
	Result   string   `json:"result,omitempty"`
	Error    string   `json:"error,omitempty"`
	Cost     uint64   `json:"cost"`
	Estimate []uint64 `json:"estimate,omitempty"`
}

func main() {
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	if len(os.Args) > 1 && os.Args[1] == "dump" {
		dump(base)
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			var req request
			dec := json.NewDecoder(strings.NewReader(line))
			dec.UseNumber()
			if err := dec.Decode(&req); err != nil {
				panic(err)
			}
			text, err := json.Marshal(respond(base, req))
			if err != nil {
				panic(err)
			}
			out.Write(text)
			out.WriteString("\n")
		}
		if err != nil {
			return
		}
	}
}


func respond(base *environment.EnvSet, req request) (ans answer) {
	defer func() {
		if r := recover(); r != nil {
			ans.Program = fmt.Sprintf("panic: %v", r)
		}
	}()
	var opts []cel.EnvOption
	var decls []*apiservercel.DeclType
	sizes := map[string]*apiservercel.DeclType{}
	activation := map[string]any{}
	for name, v := range req.Vars {
		if v.Schema != nil {
			s := structural(*v.Schema)
			decl := common.SchemaDeclType(&model.Structural{Structural: s}, s.XEmbeddedResource)
			decl = decl.MaybeAssignTypeName("selfType")
			decls = append(decls, decl)
			opts = append(opts, cel.Variable(name, decl.CelType()))
			sizes[name] = decl
			activation[name] = common.UnstructuredToVal(plain(v.Value), &model.Structural{Structural: s})
			continue
		}
		t, rest := parseType(v.Type)
		if rest != "" {
			panic("type: " + v.Type)
		}
		opts = append(opts, cel.Variable(name, t))
		activation[name] = typed(v.Value, t)
	}
	if req.Env == "ext" {
		opts = append(opts, ext.Math(), ext.Encoders(), library.JSONPatch())
	}
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: opts, DeclTypes: decls,
	})
	if err != nil {
		ans.Program = "env: " + err.Error()
		return
	}
	env := set.StoredExpressionsEnv()
	ast, issues := env.Compile(req.Expr)
	if issues != nil {
		ans.Compile = issues.String()
		return
	}
	ans.Type = checker.FormatCELType(ast.OutputType())
	est := &library.CostEstimator{SizeEstimator: sizer(sizes)}
	if e, err := env.EstimateCost(ast, est); err == nil {
		ans.Estimate = []uint64{e.Min, e.Max}
	}
	prog, err := env.Program(ast, cel.CostLimit(1000000), cel.CostTracking(est))
	if err != nil {
		ans.Program = err.Error()
		return
	}
	start := time.Now()
	val, details, err := prog.Eval(activation)
	_ = start
	if details != nil && details.ActualCost() != nil {
		ans.Cost = *details.ActualCost()
	}
	if err != nil {
		ans.Error = err.Error()
		return
	}
	ans.Result = show(val)
	return
}

type sizer map[string]*apiservercel.DeclType

func (s sizer) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 {
		return nil
	}
	// A real server starts every path at the one declaration it has.
	var node *apiservercel.DeclType
	for _, only := range s {
		node = only
	}
	if node == nil {
		return nil
	}
	for _, name := range path[1:] {
		switch name {
		case "@items", "@values":
			node = node.ElemType
		case "@keys":
			node = node.KeyType
		default:
			field, ok := node.Fields[name]
			if !ok {
				return nil
			}
			node = field.Type
		}
		if node == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(node.MaxElements)}
}

func (s sizer) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func structural(raw json.RawMessage) *schema.Structural {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(raw, &v1); err != nil {
		panic(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		panic(err)
	}
	s, err := schema.NewStructural(&internal)
	if err != nil {
		panic(err)
	}
	return s
}

// parseType reads the notation that error messages use: int, list(string), map(string, dyn).
func parseType(s string) (*cel.Type, string) {
	simple := []struct {
		name string
		t    *cel.Type
	}{{"int", cel.IntType}, {"uint", cel.UintType}, {"double", cel.DoubleType}, {"string", cel.StringType},
		{"bytes", cel.BytesType}, {"bool", cel.BoolType}, {"dyn", cel.DynType}, {"null", cel.NullType},
		{"timestamp", cel.TimestampType}, {"duration", cel.DurationType}}
	for _, c := range []string{"list(", "optional_type("} {
		if strings.HasPrefix(s, c) {
			elem, rest := parseType(s[len(c):])
			if c == "list(" {
				return cel.ListType(elem), rest[1:]
			}
			return cel.OptionalType(elem), rest[1:]
		}
	}
	if strings.HasPrefix(s, "map(") {
		key, rest := parseType(s[4:])
		val, rest := parseType(strings.TrimPrefix(rest, ", "))
		return cel.MapType(key, val), rest[1:]
	}
	for _, c := range simple {
		if strings.HasPrefix(s, c.name) {
			return c.t, s[len(c.name):]
		}
	}
	panic("type: " + s)
}

// plain turns JSON numbers into the integers and doubles that a decoded object holds.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = plain(v[k])
		}
		return out
	}
	return v
}

func typed(v any, t *cel.Type) any {
	val := plain(v)
	switch t.Kind() {
	case types.UintKind:
		return uint64(val.(int64))
	case types.DoubleKind:
		if i, ok := val.(int64); ok {
			return float64(i)
		}
	case types.BytesKind:
		return []byte(val.(string))
	case types.TimestampKind:
		ts, err := time.Parse(time.RFC3339, val.(string))
		if err != nil {
			panic(err)
		}
		return ts
	case types.DurationKind:
		d, err := time.ParseDuration(val.(string))
		if err != nil {
			panic(err)
		}
		return d
	}
	return val
}

// show writes a value in a notation that both sides can produce.
func show(v ref.Val) string {
	switch v := v.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return fmt.Sprintf("%v", bool(v))
	case types.Int:
		return fmt.Sprintf("%d", int64(v))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case types.Double:
		return fmt.Sprintf("double(%v)", float64(v))
	case types.String:
		text, _ := json.Marshal(string(v))
		return string(text)
	case types.Bytes:
		return fmt.Sprintf("b%x", []byte(v))
	case types.Timestamp:
		return "timestamp(" + v.Time.UTC().Format(time.RFC3339Nano) + ")"
	case types.Duration:
		return fmt.Sprintf("duration(%d)", int64(v.Duration))
	case *types.Type:
		return "type(" + v.TypeName() + ")"
	case *types.Optional:
		if !v.HasValue() {
			return "optional.none"
		}
		return "optional(" + show(v.GetValue()) + ")"
	case traits.Mapper:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			parts = append(parts, show(k)+": "+show(v.Get(k)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case traits.Lister:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, show(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *types.Err:
		return "error(" + v.Error() + ")"
	}
	return "other(" + v.Type().TypeName() + ")"
}

func dump(base *environment.EnvSet) {
	env, err := base.StoredExpressionsEnv().Extend(ext.Math(), ext.Encoders(), library.JSONPatch())
	if err != nil {
		panic(err)
	}
	fns := env.Functions()
	var names []string
	for name := range fns {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, o := range fns[name].OverloadDecls() {
			var args []string
			for _, a := range o.ArgTypes() {
				args = append(args, checker.FormatCELType(a))
			}
			kind := "global"
			if o.IsMemberFunction() {
				kind = "member"
			}
			fmt.Printf("%s\t%s\t%s\t%s\t%s\n", name, kind, o.ID(), strings.Join(args, ", "), checker.FormatCELType(o.ResultType()))
		}
	}
	for _, m := range env.Macros() {
		fmt.Printf("macro\t%s\t%d\t%v\n", m.Function(), m.ArgCount(), m.IsReceiverStyle())
	}
	for _, v := range env.Variables() {
		fmt.Printf("var\t%s\t%s\n", v.Name(), checker.FormatCELType(v.Type()))
	}
}
