package spans

// field is what an attribute says of a span.
type field uint8

const (
	none field = iota
	peerService
	serverAddress
	serverPort
	dbSystem
	dbName
	dbOperation
	dbTable
	dbStatement
	rpcSystem
	rpcService
	rpcMethod
	messagingSystem
	messagingTarget
	httpRoute
	httpMethod
	httpStatus
	httpTarget
	httpURL
	spanKind
	isError
	samplerType
	samplerParam
	serviceName
	language
	instance
	numFields
)

// attributes are the names that semantic conventions have given them over time:
// https://opentelemetry.io/docs/specs/semconv/registry/attributes/ (the newer name first),
// https://github.com/opentracing/specification/blob/master/semantic_conventions.md
var attributes = map[string]field{
	"service.peer.name": peerService, "peer.service": peerService,
	"server.address": serverAddress, "net.peer.name": serverAddress, "net.sock.peer.name": serverAddress, "peer.hostname": serverAddress,
	"network.peer.address": serverAddress, "net.sock.peer.addr": serverAddress, "net.peer.ip": serverAddress, "peer.ipv4": serverAddress, "peer.address": serverAddress,
	"server.port": serverPort, "net.peer.port": serverPort, "peer.port": serverPort,
	"db.system.name": dbSystem, "db.system": dbSystem, "db.type": dbSystem,
	"db.namespace": dbName, "db.name": dbName, "db.instance": dbName, "db.redis.database_index": dbName,
	"db.operation.name": dbOperation, "db.operation": dbOperation,
	"db.collection.name": dbTable, "db.sql.table": dbTable, "db.mongodb.collection": dbTable,
	"db.query.text": dbStatement, "db.statement": dbStatement, "sql.query": dbStatement, "jdbc.query": dbStatement, "jdbc.query[0]": dbStatement,
	"rpc.system": rpcSystem, "rpc.service": rpcService, "rpc.method": rpcMethod,
	"messaging.system": messagingSystem, "messaging.destination.name": messagingTarget, "messaging.destination": messagingTarget, "message_bus.destination": messagingTarget,
	"http.route": httpRoute, "http.request.method": httpMethod, "http.method": httpMethod,
	"http.response.status_code": httpStatus, "http.status_code": httpStatus,
	"url.path": httpTarget, "http.target": httpTarget, "http.path": httpTarget,
	"url.full": httpURL, "http.url": httpURL,
	"span.kind": spanKind, "error": isError, "otel.status_code": isError,
	"sampler.type": samplerType, "sampler.param": samplerParam,
	"service.name": serviceName, "telemetry.sdk.language": language,
	"service.instance.id": instance, "k8s.pod.name": instance, "host.name": instance, "hostname": instance, "ip": instance,
}

// Reads says whether an attribute of a span or of who sent it is read.
func Reads(attribute string) bool { return attributes[attribute] != none }

// runtimes are the languages of SDKs whose runtime is one that unstall knows.
var runtimes = map[string]string{"java": "jvm", "dotnet": "dotnet", "go": "go"}

// kind is what a span is of.
type kind uint8

const (
	unspecified kind = iota
	internal
	server
	client
	producer
	consumer
)

// kinds are the names and numbers of all formats: enum SpanKind of
// opentelemetry-proto trace.proto, Zipkin's Span.Kind, OpenTracing's span.kind.
var kinds = map[string]kind{
	"1": internal, "2": server, "3": client, "4": producer, "5": consumer,
	"SPAN_KIND_INTERNAL": internal, "SPAN_KIND_SERVER": server, "SPAN_KIND_CLIENT": client, "SPAN_KIND_PRODUCER": producer, "SPAN_KIND_CONSUMER": consumer,
	"INTERNAL": internal, "SERVER": server, "CLIENT": client, "PRODUCER": producer, "CONSUMER": consumer,
	"internal": internal, "server": server, "client": client, "producer": producer, "consumer": consumer,
}

// isCall says whether a span of this kind is a call of something else.
func (k kind) isCall() bool { return k == client || k == producer }

// isServing says whether a span of this kind is a request that its service answers.
func (k kind) isServing() bool { return k == server || k == consumer }
