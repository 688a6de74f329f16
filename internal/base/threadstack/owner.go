package threadstack

import "strings"

// ownership tells who owns the code of a frame.
type ownership uint8

const (
	users ownership = iota
	library
	framework
)

// owners separates the user's own code from others'.
type owners struct {
	entry string // entry assembly
}

func (o *owners) ownershipOf(module, name string) ownership {
	if module == "" || module == "?" { // some tools print no modules, and a stream without its rundown names none
		switch {
		case hasPrefix(name, frameworkNames):
			return framework
		case hasPrefix(name, libraryNames):
			return library
		}
		return users
	}
	switch {
	case o.entry != "" && strings.EqualFold(module, o.entry):
		return users
	case inFamily(module, frameworkModules):
		return framework
	case o.entry != "" && strings.EqualFold(familyOf(module), familyOf(o.entry)):
		return users
	case inFamily(module, libraryModules):
		return library
	}
	return users
}

// familyOf returns the first part of an assembly's name: companies name their assemblies Contoso.Web, Contoso.Data.
func familyOf(module string) string {
	first, _, _ := strings.Cut(module, ".")
	return first
}

// inFamily reports whether a module is in a list or below a listed one: Serilog.Sinks.File is below Serilog.
func inFamily(module string, list []string) bool {
	for _, f := range list {
		if len(module) >= len(f) && strings.EqualFold(module[:len(f)], f) && (len(module) == len(f) || module[len(f)] == '.') {
			return true
		}
	}
	return false
}

// frameworkModules are the modules that come with .NET, and placeholders for no assembly.
var frameworkModules = []string{"System", "Microsoft", "mscorlib", "netstandard", "WindowsBase", "PresentationCore", "PresentationFramework",
	"coreclr", "clr", "clrjit", "libcoreclr", "ntdll", "kernel32", "KERNELBASE", "Interop", "Anonymously Hosted DynamicMethods Assembly", "dynamicClass"}

var frameworkNames = []string{"System.", "Microsoft.", "Interop", "Internal.", "dynamicClass.", "MS.", "ILStubClass.", "DynamicClass."}

// libraryModules are the assemblies, or first parts of their names, of libraries that are common in services. It is a list, because stacks do
// not mark libraries; an unlisted library counts as the user's own code, which is at most one frame too far in.
var libraryModules = []string{
	// data
	"Npgsql", "MySql", "MySqlConnector", "Oracle", "StackExchange", "MongoDB", "Dapper", "NHibernate", "linq2db", "EntityFramework", "EnyimMemcached",
	"Cassandra", "Neo4j", "Elasticsearch", "Elastic", "Nest", "OpenSearch", "Couchbase", "Raven", "Marten", "LiteDB", "InfluxDB", "ClickHouse", "SQLitePCLRaw",
	"ServiceStack", "EasyCaching", "ZiggyCreatures", "FreeSql", "SqlSugar", "FirebirdSql", "Snowflake",
	// messages and remote calls
	"RabbitMQ", "EasyNetQ", "Confluent", "MassTransit", "NServiceBus", "Rebus", "NATS", "Grpc", "Google", "Protobuf", "protobuf-net", "RestSharp", "Refit", "Flurl",
	"Amazon", "AWSSDK", "Azure", "NetMQ", "MQTTnet", "DotNetty", "SuperSocket", "Apache", "Orleans", "Akka", "Proto", "Hangfire", "Quartz", "Renci",
	// logs, traces, metrics
	"Serilog", "NLog", "log4net", "OpenTelemetry", "Datadog", "NewRelic", "Sentry", "Dynatrace", "App.Metrics", "prometheus-net", "Prometheus", "StatsdClient",
	// plumbing
	"Newtonsoft", "Polly", "AutoMapper", "Mapster", "MediatR", "FluentValidation", "Autofac", "Castle", "Ninject", "StructureMap", "Lamar", "Scrutor",
	"SimpleInjector", "DryIoc", "Unity", "Swashbuckle", "NSwag", "GraphQL", "HotChocolate", "Nancy", "Carter", "FastEndpoints", "IdentityModel", "IdentityServer4", "Duende",
	"OpenIddict", "BouncyCastle", "SixLabors", "SkiaSharp", "CsvHelper", "YamlDotNet", "MessagePack", "Jil", "Utf8Json", "Nito", "Ocelot", "Yarp",
	"FSharp", "Nerdbank", "K4os", "ZstdSharp", "Ionic", "Volo", "Abp", "xunit", "nunit", "Moq", "BenchmarkDotNet",
}

var libraryNames = func() (out []string) {
	for _, m := range libraryModules {
		out = append(out, m+".")
	}
	return out
}()

// IsDotnetFramework reports whether a function is the runtime's or a framework's, and not the program's.
func IsDotnetFramework(function string) bool {
	module, rest := splitModule(function)
	return isPseudo(function) || (&owners{}).ownershipOf(module, rest) == framework
}

// IsJVMFramework is [IsDotnetFramework] of a JVM's functions.
func IsJVMFramework(function string) bool {
	return isPseudo(function) || readJVM(function, "").own == framework
}
