package threadstack

import "github.com/unstall/unstall/internal/base/evidence"

// jvmRoles are the methods that threads of a kind begin with, searched from the outermost frame inwards.
var jvmRoles = []struct {
	prefix string
	role   Role
}{
	{"java.util.concurrent.ThreadPoolExecutor$Worker.", Worker},
	{"java.util.concurrent.ForkJoinWorkerThread.", Worker},
	{"org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker.", Worker}, // Tomcat 9.0.55 and later have their own
	{"org.apache.tomcat.util.threads.ThreadPool$ControlRunnable.", Worker},
	{"org.apache.tomcat.util.net.JIoEndpoint$Worker.", Worker}, // Tomcat 6
	{"org.eclipse.jetty.util.thread.QueuedThreadPool", Worker},
	{"org.jboss.threads.", Worker},
	{"weblogic.work.ExecuteThread.", Worker},
	{"weblogic.kernel.ExecuteThread.", Worker},
	{"com.ibm.ws.util.ThreadPool$Worker.", Worker},
	{"com.caucho.env.thread", Worker},
	{"com.caucho.util.ThreadPool", Worker},
	{"org.glassfish.grizzly.threadpool.", Worker},
	{"io.netty.util.concurrent.DefaultEventExecutor.", Worker},

	{"io.netty.channel.", IO},
	{"org.xnio.nio.", IO},
	{"org.apache.tomcat.util.net.", IO}, // acceptors and pollers
	{"org.glassfish.grizzly.nio.", IO},
	{"sun.net.httpserver.ServerImpl$Dispatcher.", IO},
	{"jdk.internal.net.http.HttpClientImpl$SelectorManager.", IO},
	{"sun.rmi.transport.tcp.TCPTransport$AcceptLoop.", IO},
	{"org.apache.zookeeper.ClientCnxn$", IO},
	{"org.apache.kafka.clients.producer.internals.Sender.", IO},
	{"com.rabbitmq.client.impl.AMQConnection$MainLoop.", IO},
	{"sun.nio.fs.", IO},

	{"java.util.TimerThread.", Timer},
	{"java.util.concurrent.DelayScheduler.", Timer},
	{"io.netty.util.HashedWheelTimer$Worker.", Timer},
	{"okio.AsyncTimeout$Watchdog.", Timer},
	{"java.lang.ref.Finalizer$FinalizerThread.", Finalizer},

	{"java.lang.ref.", Runtime},
	{"jdk.internal.misc.InnocuousThread.", Runtime},
	{"jdk.internal.ref.", Runtime},
	{"sun.misc.GC$", Runtime},
	{"sun.rmi.transport.", Runtime},
	{"com.sun.jmx.", Runtime},
	{"java.lang.ProcessHandleImpl", Runtime},
	{"io.netty.util.concurrent.GlobalEventExecutor$", Runtime},
	{"io.netty.util.ThreadDeathWatcher$", Runtime},
	{"org.apache.catalina.core.ContainerBase$ContainerBackgroundProcessor.", Runtime},
	{"org.apache.catalina.core.StandardServer.await", Runtime}, // the thread container-0 of an embedded server waits for its end
	{"org.apache.juli.", Runtime},
	{"ch.qos.logback.core.AsyncAppenderBase$Worker.", Runtime},
	{"org.apache.logging.log4j.", Runtime},
	{"com.lmax.disruptor.", Runtime},
	{"com.mysql.jdbc.AbandonedConnectionCleanupThread.", Runtime},
	{"com.mysql.cj.jdbc.AbandonedConnectionCleanupThread.", Runtime},
	{"com.alibaba.druid.pool.DruidDataSource$", Runtime}, // creates and closes connections
	{"com.alibaba.druid.pool.DruidDataSource.", Runtime},
	{"com.mchange.v2.async.", Runtime},
	{"com.google.common.base.internal.Finalizer.", Runtime},
	{"com.mongodb.internal.connection.", Runtime},
	{"okhttp3.", Runtime},
	{"org.apache.http.impl.client.IdleConnectionEvictor$", Runtime},
	{"org.postgresql.util.", Runtime},
}

// jvmLoops are the event loops of servers, on which handlers run: a handler that blocks one delays all its connections.
var jvmLoops = []string{"io.netty.channel.", "org.xnio.nio.", "org.glassfish.grizzly.nio.", "sun.net.httpserver.ServerImpl$Dispatcher."}

// jvmRequests are on the stack of a thread that works on a request that a server has read.
var jvmRequests = []string{
	"org.apache.catalina.connector.CoyoteAdapter.service", "org.apache.catalina.core.StandardEngineValve.", "org.apache.catalina.core.StandardHostValve.", "org.apache.catalina.core.StandardContextValve.",
	"org.apache.catalina.core.StandardWrapperValve.", "org.apache.catalina.core.ApplicationFilterChain.", "org.apache.catalina.core.ApplicationDispatcher.", "org.apache.catalina.core.AsyncContextImpl.", "javax.servlet.http.HttpServlet.service", "jakarta.servlet.http.HttpServlet.service",
	"org.eclipse.jetty.server.Server.handle", "org.eclipse.jetty.server.HttpChannel.handle", "org.eclipse.jetty.server.internal.HttpChannelState$HandlerInvoker",
	"io.undertow.server.Connectors.executeRootHandler", "io.undertow.servlet.",
	"com.sun.net.httpserver.Filter$Chain.doFilter",
	"org.glassfish.grizzly.http.server.", "org.glassfish.jersey.server.", "io.helidon.webserver.", "io.helidon.http.",
	"io.vertx.core.http.impl.Http", "io.vertx.ext.web.impl.", "reactor.netty.http.server.", "org.springframework.web.servlet.", "org.springframework.web.reactive.", "org.springframework.web.server.",
	"io.netty.handler.codec.http.Http", "io.micronaut.http.server.", "com.linecorp.armeria.server.", "io.quarkus.vertx.http.", "play.core.server.", "akka.http.", "org.apache.pekko.http.",
	"io.grpc.internal.ServerCallImpl", "io.grpc.internal.ServerImpl$JumpToApplicationThreadServerStreamListener$", "io.grpc.stub.ServerCalls", // its event loops only hand over
	"org.apache.dubbo.remoting.", "com.alibaba.dubbo.remoting.", "org.apache.thrift.ProcessFunction.", "org.apache.thrift.TBaseProcessor.",
	"sun.rmi.server.UnicastServerRef.dispatch", "weblogic.servlet.internal.", "com.ibm.ws.webcontainer.", "com.caucho.server.http.", "kafka.server.KafkaApis.",
}

// jvmFetching is on the stack of a pool's thread without a task.
var jvmFetching = []string{
	"java.util.concurrent.ThreadPoolExecutor.getTask", "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask",
	"java.util.concurrent.ForkJoinPool.awaitWork", "java.util.concurrent.ForkJoinPool.idleAwaitWork",
	"org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll", "org.eclipse.jetty.util.BlockingArrayQueue.poll",
	"org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.reservedWait", "org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode.",
	"org.apache.tomcat.util.net.JIoEndpoint$Worker.await", "org.apache.tomcat.util.threads.ThreadPool$ControlRunnable.wait", "weblogic.work.ExecuteThread.waitForRequest",
	"weblogic.kernel.ExecuteThread.waitForRequest", "com.caucho.env.thread", "org.glassfish.grizzly.threadpool.AbstractThreadPool$Worker.getTask",
}

// jvmPrimitive is a method in which a thread blocks.
type jvmPrimitive struct {
	prefix  string
	state   evidence.Kind
	pattern string // "": derived from the method
}

// jvmPrimitives, first match wins.
var jvmPrimitives = []jvmPrimitive{
	{"jdk.internal.misc.Unsafe.park", evidence.SyncWait, parked},
	{"sun.misc.Unsafe.park", evidence.SyncWait, parked},
	{"java.lang.VirtualThread.park", evidence.SyncWait, parked},
	{"java.lang.VirtualThread.yieldContinuation", evidence.SyncWait, parked},
	{"jdk.internal.vm.Continuation.yield", evidence.SyncWait, parked},
	{"java.lang.Object.wait", evidence.SyncWait, "Object.wait"},
	{"java.lang.Thread.sleep", evidence.SleepWait, "Thread.sleep"},
	{"java.lang.ProcessImpl.waitFor", evidence.SyncWait, "Process.waitFor"},

	// Waits for whatever another thread hands over.
	{"jdk.internal.vm.Continuation.run", evidence.Idle, ""}, // it carries a virtual thread
	{"java.lang.ref.Reference.waitForReferencePendingList", evidence.Idle, ""},
	{"java.lang.VirtualThread.takeVirtualThreadListToUnblock", evidence.Idle, ""},
	{"java.lang.ProcessHandleImpl.waitForProcessExit0", evidence.Idle, ""},
	{"java.lang.UNIXProcess.waitForProcessExit", evidence.Idle, ""},
	{"sun.nio.ch.EPoll", evidence.Idle, ""},
	{"sun.nio.ch.KQueue", evidence.Idle, ""},
	{"sun.nio.ch.WEPoll", evidence.Idle, ""},
	{"sun.nio.ch.WindowsSelectorImpl", evidence.Idle, ""},
	{"sun.nio.ch.PollArrayWrapper", evidence.Idle, ""},
	{"sun.nio.ch.PollSelectorImpl", evidence.Idle, ""},
	{"io.netty.channel.epoll.Native.", evidence.Idle, ""},
	{"io.netty.channel.kqueue.Native.", evidence.Idle, ""},
	{"io.netty.channel.uring.Native.", evidence.Idle, ""},
	{"io.netty.incubator.channel.uring.Native.", evidence.Idle, ""},
	{"sun.nio.ch.Net.accept", evidence.Idle, ""},
	{"sun.nio.ch.ServerSocketChannelImpl.accept0", evidence.Idle, ""},
	{"java.net.PlainSocketImpl.socketAccept", evidence.Idle, ""},
	{"sun.nio.ch.UnixDomainSockets.accept", evidence.Idle, ""},

	{"java.net.SocketInputStream.", evidence.NetWait, ""}, // of a dump .socketRead0, of a flight recording who reads
	{"java.net.SocketOutputStream.", evidence.NetWait, ""},
	{"java.net.Socket$SocketInputStream.", evidence.NetWait, ""}, // of a flight recording of JDK 13 on
	{"java.net.Socket$SocketOutputStream.", evidence.NetWait, ""},
	{"java.net.PlainSocketImpl.socketConnect", evidence.NetWait, ""},
	{"java.net.PlainDatagramSocketImpl.", evidence.NetWait, ""},
	{"java.net.Inet4AddressImpl.lookup", evidence.NetWait, ""},
	{"java.net.Inet6AddressImpl.lookup", evidence.NetWait, ""},
	{"sun.nio.ch.SocketDispatcher.", evidence.NetWait, ""},
	{"sun.nio.ch.DatagramDispatcher.", evidence.NetWait, ""},
	{"sun.nio.ch.DatagramChannelImpl.receive", evidence.NetWait, ""},
	{"sun.nio.ch.Net.poll", evidence.NetWait, ""},
	{"sun.nio.ch.Net.connect", evidence.NetWait, ""},

	{"java.io.FileInputStream.read", evidence.Syscall, ""},
	{"java.io.FileOutputStream.write", evidence.Syscall, ""},
	{"java.io.RandomAccessFile.", evidence.Syscall, ""},
	{"java.io.FileDescriptor.sync", evidence.Syscall, "fsync"},
	{"sun.nio.ch.FileDispatcherImpl.force", evidence.Syscall, "fsync"},
	{"sun.nio.ch.UnixFileDispatcherImpl.force", evidence.Syscall, "fsync"},
	{"java.nio.MappedByteBuffer.force", evidence.Syscall, "msync"},
	{"java.nio.MappedMemoryUtils.force", evidence.Syscall, "msync"},
	{"java.io.UnixFileSystem.", evidence.Syscall, ""},
	{"sun.nio.fs.UnixNativeDispatcher.", evidence.Syscall, ""},
	{"sun.nio.ch.FileChannelImpl.", evidence.Syscall, ""},
}

// parked is the pattern of a thread in the locks of java.util.concurrent whose lock is unknown.
const parked = "LockSupport.park"

// jvmPolling waits for connections, or for any of many.
var jvmPolling = []string{"sun.nio.ch.", "java.net.PlainSocketImpl.socketAccept", "io.netty.channel.", "io.netty.incubator.channel."}

// jvmPlumbing may be between the blocking primitive and the frame that describes it: before JDK 13 sockets read through the code for files,
// and virtual threads park in a few steps.
var jvmPlumbing = []string{"sun.nio.ch.", "java.lang.VirtualThread.", "java.lang.System$", "jdk.internal.misc."}

// jvmAccepting is on the stack of threads that wait for connections in any way.
var jvmAccepting = []string{"java.net.ServerSocket.", "sun.nio.ch.ServerSocketChannelImpl.", "sun.nio.ch.NioSocketImpl.accept", "java.net.AbstractPlainSocketImpl.accept", "sun.security.ssl.SSLServerSocketImpl."}

// jvmFramework is code that runs before any of the user's own: the JDK, servers, containers and languages' own libraries.
var jvmFramework = []string{"java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "org.ietf.", "org.w3c.", "org.xml.",
	"kotlin.", "kotlinx.", "scala.", "groovy.", "org.codehaus.groovy.", "org.apache.groovy.", "clojure.",
	"org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat.", "org.apache.jasper.", "org.apache.juli.", "org.eclipse.jetty.", "io.undertow.", "org.xnio.", "org.jboss.", "org.wildfly.",
	"io.netty.", "org.glassfish.", "weblogic.", "com.ibm.", "com.caucho.", "org.springframework.", "io.quarkus.", "io.micronaut.", "io.vertx.", "io.helidon.", "org.apache.tomee.", "org.apache.openejb.",
	"reactor.", "akka.", "org.apache.pekko.", "play.", "com.linecorp.armeria.", "org.osgi.", "org.apache.felix.", "org.eclipse.osgi.", "org.graalvm.", "com.oracle.", "org.aopalliance.", "net.sf.cglib.",
	"org.aspectj.", "javassist.", "net.bytebuddy."}

// jvmServerCode may be between a wait and the server's frame that says it is for the client: the JDK, and servers themselves.
var jvmServerCode = []string{"java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat.", "org.eclipse.jetty.",
	"io.undertow.", "org.xnio.", "org.jboss.threads."}

// jvmLibraries are the packages of libraries that are common in services. It is a list, because stacks do not mark libraries; an unlisted
// library counts as the user's own code, which is at most one frame too far in.
var jvmLibraries = []string{
	// data
	"com.mysql.", "org.mariadb.", "org.postgresql.", "oracle.", "com.microsoft.", "org.h2.", "org.hsqldb.", "org.sqlite.", "com.clickhouse.", "ru.yandex.clickhouse.", "net.snowflake.",
	"org.hibernate.", "org.apache.ibatis.", "org.mybatis.", "com.baomidou.", "org.jooq.", "org.jdbi.", "com.querydsl.", "org.flywaydb.", "liquibase.", "io.ebean.", "org.eclipse.persistence.",
	"com.zaxxer.", "org.apache.commons.", "com.alibaba.druid.", "com.mchange.", "com.jolbox.", "org.vibur.", "io.agroal.", "io.r2dbc.", "redis.clients.", "io.lettuce.", "org.redisson.", "com.mongodb.",
	"org.bson.", "com.datastax.", "org.apache.cassandra.", "net.spy.", "net.rubyeye.", "com.aerospike.", "com.couchbase.", "org.elasticsearch.", "co.elastic.", "org.opensearch.", "org.apache.lucene.",
	"org.apache.solr.", "org.neo4j.", "org.apache.hadoop.", "org.apache.hbase.", "org.influxdb.", "com.github.benmanes.", "org.ehcache.", "net.sf.ehcache.", "com.hazelcast.", "org.apache.ignite.", "org.infinispan.",
	// messages and remote calls
	"org.apache.kafka.", "kafka.", "com.rabbitmq.", "org.apache.activemq.", "org.apache.rocketmq.", "com.alibaba.rocketmq.", "org.apache.pulsar.", "io.nats.", "io.grpc.", "com.google.", "org.apache.http.",
	"org.apache.hc.", "okhttp3.", "okio.", "retrofit2.", "feign.", "org.apache.dubbo.", "com.alibaba.", "com.taobao.", "com.ctrip.", "org.apache.thrift.", "org.apache.zookeeper.", "org.apache.curator.", "org.apache.cxf.",
	"org.apache.axis", "org.asynchttpclient.", "com.ning.", "software.amazon.", "com.amazonaws.", "com.azure.", "io.etcd.", "org.apache.camel.", "org.quartz.", "io.rsocket.",
	// logs, traces, metrics
	"org.slf4j.", "ch.qos.logback.", "org.apache.log4j.", "org.apache.logging.", "io.micrometer.", "io.opentelemetry.", "io.opentracing.", "brave.", "zipkin2.", "datadog.", "com.newrelic.", "com.dynatrace.",
	"io.prometheus.", "com.codahale.", "org.apache.skywalking.", "io.sentry.", "com.navercorp.pinpoint.", "com.lmax.",
	// plumbing
	"com.fasterxml.", "com.esotericsoftware.", "org.yaml.", "org.dom4j.", "org.jdom", "com.netflix.", "io.github.resilience4j.", "io.reactivex.", "rx.", "io.smallrye.", "cats.", "zio.", "fs2.", "monix.",
	"org.bouncycastle.", "org.thymeleaf.", "freemarker.", "org.apache.velocity.", "org.apache.poi.", "com.itextpdf.", "org.apache.pdfbox.", "org.apache.shiro.", "org.keycloak.", "io.jsonwebtoken.", "com.nimbusds.",
	"org.modelmapper.", "org.mapstruct.", "org.joda.", "io.vavr.", "org.ow2.", "org.objectweb.", "org.junit.", "org.mockito.", "com.github.luben.", "net.jpountz.", "org.xerial.", "org.apache.spark.", "org.apache.flink.",
}
