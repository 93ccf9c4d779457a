// Leaves a few services in the source of terraform-provider-aws: the code stays as it is, and there is less of it to
// compile.
//
//	go run trim.go <folder of the source> <path of its module> <service>...
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	packagesFile = "internal/provider/sdkv2/service_packages_gen.go"
	clientsFile  = "internal/conns/awsclient_gen.go"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 4 {
		log.Fatal("usage: trim.go <folder> <module> <service>...")
	}
	folder, module, services := os.Args[1], os.Args[2], os.Args[3:]
	must(os.WriteFile(filepath.Join(folder, packagesFile), servicePackages(module, services), 0o644))
	names := usedNames(folder, module)
	kept, all := trimClients(filepath.Join(folder, clientsFile), names)
	fmt.Printf("kept %d of %d clients\n", kept, all)
}

// The generated list of all services, with fewer of them.
func servicePackages(module string, services []string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "package sdkv2\n\nimport (\n\"context\"\n\"slices\"\n\n%q\n", module+"/internal/conns")
	for _, service := range services {
		fmt.Fprintf(&out, "%q\n", module+"/internal/service/"+service)
	}
	out.WriteString(")\n\nfunc servicePackages(ctx context.Context) []conns.ServicePackage {\nreturn slices.Clone([]conns.ServicePackage{\n")
	for _, service := range services {
		fmt.Fprintf(&out, "%s.ServicePackage(ctx),\n", service)
	}
	out.WriteString("})\n}\n")
	source, err := format.Source(out.Bytes())
	must(err)
	return source
}

// The names that the packages below the main one select from anything, except in the file of the clients itself.
// Only the module's own packages are read, so nothing is downloaded for services that are left out.
func usedNames(folder, module string) map[string]bool {
	names := map[string]bool{}
	seen := map[string]bool{"": true}
	for queue := []string{""}; len(queue) > 0; queue = queue[1:] {
		files, err := filepath.Glob(filepath.Join(folder, queue[0], "*.go"))
		must(err)
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			must(err)
			isClients := strings.HasSuffix(name, clientsFile)
			ast.Inspect(file, func(node ast.Node) bool {
				if selector, ok := node.(*ast.SelectorExpr); ok && !isClients {
					names[selector.Sel.Name] = true
				}
				return true
			})
			for _, spec := range file.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				if inside, ok := strings.CutPrefix(path, module+"/"); ok && !seen[inside] {
					seen[inside] = true
					queue = append(queue, inside)
				}
			}
		}
	}
	return names
}

// Drops the methods that return a client nobody asks for, then the imports that only those needed.
func trimClients(path string, names map[string]bool) (kept, all int) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	must(err)
	var rest []ast.Decl
	used := map[string]bool{}
	for _, declaration := range file.Decls {
		method, ok := declaration.(*ast.FuncDecl)
		if ok {
			all++
			if !names[method.Name.Name] {
				continue
			}
			kept++
			ast.Inspect(method, func(node ast.Node) bool {
				if selector, ok := node.(*ast.SelectorExpr); ok {
					if from, ok := selector.X.(*ast.Ident); ok {
						used[from.Name] = true
					}
				}
				return true
			})
		}
		rest = append(rest, declaration)
	}
	file.Decls, file.Comments = rest, nil
	for _, declaration := range rest {
		imports, ok := declaration.(*ast.GenDecl)
		if !ok || imports.Tok != token.IMPORT {
			continue
		}
		var specs []ast.Spec
		for _, spec := range imports.Specs {
			if used[importedName(spec.(*ast.ImportSpec))] {
				specs = append(specs, spec)
			}
		}
		imports.Specs = specs
	}
	var out bytes.Buffer
	must(format.Node(&out, files, file))
	must(os.WriteFile(path, out.Bytes(), 0o644))
	return kept, all
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

func importedName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	path, _ := strconv.Unquote(spec.Path.Value)
	parts := strings.Split(path, "/")
	name := parts[len(parts)-1]
	if majorVersion.MatchString(name) {
		name = parts[len(parts)-2]
	}
	return name
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
