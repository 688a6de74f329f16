package threadstack

import "github.com/unstall/unstall/internal/base/evidence"

// jvmWait is a method in which a thread waits, if it blocks.
type jvmWait struct {
	prefix  string
	method  []string // beginnings of the method's name; nil: any
	state   evidence.Kind
	pattern string // "": derived from the method
	rank    int    // a lower one further out does not replace a higher one
}

// Methods that fetch from a queue, or put into one.
var (
	fetches = []string{"take", "poll", "transfer", "xfer"}
	puts    = []string{"put", "offer"}
)

// jvmWaits, first match wins. A library's primitives are in its own packages, so the table matches these as a whole: the outermost of a
// library's methods is the one that was called.
var jvmWaits = []jvmWait{
	{"java.lang.Thread.", []string{"sleep"}, evidence.SleepWait, "Thread.sleep", rankPrimitive},
	{"java.lang.Thread.", []string{"join"}, evidence.SyncWait, "Thread.join", rankPrimitive},
	{"java.lang.ProcessImpl.", []string{"waitFor"}, evidence.SyncWait, "Process.waitFor", rankPrimitive},
	{"java.util.concurrent.TimeUnit.", []string{"sleep"}, evidence.SleepWait, "Thread.sleep", rankPrimitive},
	{"java.util.concurrent.locks.ReentrantReadWriteLock$", []string{"lock", "tryLock"}, evidence.LockWait, "ReentrantReadWriteLock", rankPrimitive},
	{"java.util.concurrent.locks.ReentrantLock.", []string{"lock", "tryLock"}, evidence.LockWait, "ReentrantLock", rankPrimitive},
	{"java.util.concurrent.locks.StampedLock.", nil, evidence.LockWait, "StampedLock", rankPrimitive},
	{"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.", []string{"await"}, evidence.SyncWait, "Condition.await", rankPrimitive},
	{"java.util.concurrent.Semaphore.", []string{"acquire", "tryAcquire"}, evidence.PoolWait, "Semaphore.acquire", rankTask},
	{"java.util.concurrent.CountDownLatch.", []string{"await"}, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.CyclicBarrier.", []string{"await"}, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.Phaser.", []string{"await"}, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.Exchanger.", []string{"exchange"}, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.LinkedBlockingQueue.", fetches, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.LinkedBlockingDeque.", fetches, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.ArrayBlockingQueue.", fetches, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.PriorityBlockingQueue.", fetches, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.DelayQueue.", fetches, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.SynchronousQueue.", fetches, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.LinkedTransferQueue.", fetches, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.LinkedBlockingQueue.", puts, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.LinkedBlockingDeque.", puts, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.ArrayBlockingQueue.", puts, evidence.SyncWait, "", rankPrimitive},
	{"java.util.concurrent.SynchronousQueue.", puts, evidence.SyncWait, "", rankPrimitive},
	{"ch.qos.logback.core.AsyncAppenderBase.", nil, evidence.SyncWait, "Logback's asynchronous appender, whose queue is full", rankTask},
	{"org.apache.logging.log4j.core.appender.AsyncAppender", nil, evidence.SyncWait, "Log4j's asynchronous appender, whose queue is full", rankTask},

	{"java.util.concurrent.CompletableFuture.", []string{"get", "join"}, evidence.TaskWait, "", rankTask},
	{"java.util.concurrent.FutureTask.", []string{"get"}, evidence.TaskWait, "", rankTask},
	{"java.util.concurrent.ForkJoinTask.", []string{"get", "join", "invoke", "quietly"}, evidence.TaskWait, "", rankTask},
	{"java.util.concurrent.AbstractExecutorService.", []string{"invoke"}, evidence.TaskWait, "", rankTask},
	{"java.util.concurrent.ExecutorCompletionService.", fetches, evidence.TaskWait, "", rankTask},
	{"java.util.concurrent.ThreadPoolExecutor.", []string{"awaitTermination"}, evidence.TaskWait, "", rankTask},
	{"java.util.concurrent.StructuredTaskScope", []string{"join"}, evidence.TaskWait, "", rankTask},
	{"com.google.common.util.concurrent.AbstractFuture", []string{"get"}, evidence.TaskWait, "Future.get", rankTask},
	{"com.google.common.util.concurrent.Uninterruptibles.", []string{"get"}, evidence.TaskWait, "Future.get", rankTask},
	{"io.netty.util.concurrent.", []string{"await", "sync", "get"}, evidence.TaskWait, "", rankTask},
	{"io.netty.channel.DefaultChannelPromise.", []string{"await", "sync"}, evidence.TaskWait, "", rankTask},
	{"scala.concurrent.Await", nil, evidence.TaskWait, "Await.result", rankTask},
	{"scala.concurrent.impl.Promise", []string{"tryAwait", "result", "ready"}, evidence.TaskWait, "Await.result", rankTask},
	{"reactor.core.publisher.", []string{"block"}, evidence.TaskWait, "", rankTask},
	{"io.reactivex.", []string{"blocking"}, evidence.TaskWait, "", rankTask},
	{"rx.observables.BlockingObservable.", nil, evidence.TaskWait, "", rankTask},
	{"kotlinx.coroutines.", []string{"joinBlocking", "runBlocking"}, evidence.TaskWait, "runBlocking", rankTask},

	// Pools that hand out connections, and get them back.
	{"com.zaxxer.hikari.pool.HikariPool.", []string{"getConnection"}, evidence.PoolWait, "HikariPool.getConnection", rankIO},
	{"com.zaxxer.hikari.util.ConcurrentBag.", []string{"borrow"}, evidence.PoolWait, "HikariPool.getConnection", rankIO},
	{"org.apache.commons.pool2.impl.", []string{"borrowObject"}, evidence.PoolWait, "", rankIO},
	{"org.apache.commons.pool.impl.", []string{"borrowObject"}, evidence.PoolWait, "", rankIO},
	{"org.apache.commons.dbcp", []string{"getConnection", "borrow"}, evidence.PoolWait, "", rankIO},
	{"org.apache.tomcat.dbcp.", []string{"borrowObject", "getConnection"}, evidence.PoolWait, "", rankIO},
	{"org.apache.tomcat.jdbc.pool.", []string{"borrowConnection", "getConnection"}, evidence.PoolWait, "", rankIO},
	{"com.mchange.v2.resourcepool.BasicResourcePool.", nil, evidence.PoolWait, "BasicResourcePool.checkoutResource", rankIO},
	{"com.alibaba.druid.pool.DruidDataSource.", []string{"takeLast", "pollLast", "getConnection"}, evidence.PoolWait, "DruidDataSource.getConnection", rankIO},
	{"com.jolbox.bonecp.", []string{"getConnection"}, evidence.PoolWait, "", rankIO},
	{"org.vibur.", []string{"take", "getConnection"}, evidence.PoolWait, "", rankIO},
	{"io.agroal.pool.", []string{"getConnection", "handlerFromSharedCache"}, evidence.PoolWait, "", rankIO},
	{"oracle.ucp.", []string{"borrow", "getConnection"}, evidence.PoolWait, "", rankIO},
	{"org.jboss.jca.core.connectionmanager.pool.", nil, evidence.PoolWait, "", rankIO},
	{"com.mongodb.internal.connection.ConcurrentPool.", []string{"get"}, evidence.PoolWait, "", rankIO},
	{"org.apache.http.pool.", []string{"getPoolEntryBlocking", "get"}, evidence.PoolWait, "PoolingHttpClientConnectionManager.leaseConnection", rankIO},
	{"org.apache.http.impl.conn.PoolingHttpClientConnectionManager", []string{"leaseConnection", "get"}, evidence.PoolWait, "PoolingHttpClientConnectionManager.leaseConnection", rankIO},
	{"org.apache.http.impl.conn.tsccm.", nil, evidence.PoolWait, "", rankIO},
	{"org.apache.hc.core5.pool.", nil, evidence.PoolWait, "PoolingHttpClientConnectionManager.lease", rankIO},
	{"org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager", []string{"get", "lease"}, evidence.PoolWait, "PoolingHttpClientConnectionManager.lease", rankIO},
	{"org.apache.commons.httpclient.MultiThreadedHttpConnectionManager", nil, evidence.PoolWait, "", rankIO},
	{"io.github.resilience4j.bulkhead.", nil, evidence.PoolWait, "", rankIO},
	{"org.apache.tomcat.util.threads.LimitLatch.", []string{"countUpOrAwait"}, evidence.PoolWait, "maxConnections", rankIO},

	// Servers that read a request or write a response.
	{"org.apache.coyote.", nil, evidence.ClientWait, "", rankIO},
	{"org.apache.tomcat.util.net.", nil, evidence.ClientWait, "", rankIO},
	{"org.apache.catalina.connector.", nil, evidence.ClientWait, "", rankIO},
	{"sun.net.httpserver.", nil, evidence.ClientWait, "", rankIO},
	{"org.eclipse.jetty.server.", nil, evidence.ClientWait, "", rankIO},
	{"org.eclipse.jetty.io.", nil, evidence.ClientWait, "", rankIO},
	{"org.eclipse.jetty.http.", nil, evidence.ClientWait, "", rankIO},
	{"io.undertow.", nil, evidence.ClientWait, "", rankIO},
	{"org.xnio.", nil, evidence.ClientWait, "", rankIO},

	// Clients of databases, caches, queues and services.
	{"com.mysql.", nil, evidence.NetWait, "", rankIO},
	{"org.mariadb.", nil, evidence.NetWait, "", rankIO},
	{"org.postgresql.", nil, evidence.NetWait, "", rankIO},
	{"oracle.", nil, evidence.NetWait, "", rankIO},
	{"com.microsoft.sqlserver.", nil, evidence.NetWait, "", rankIO},
	{"com.ibm.db2.", nil, evidence.NetWait, "", rankIO},
	{"com.clickhouse.", nil, evidence.NetWait, "", rankIO},
	{"redis.clients.", nil, evidence.NetWait, "", rankIO},
	{"io.lettuce.", nil, evidence.NetWait, "", rankIO},
	{"org.redisson.", nil, evidence.NetWait, "", rankIO},
	{"com.mongodb.", nil, evidence.NetWait, "", rankIO},
	{"com.datastax.", nil, evidence.NetWait, "", rankIO},
	{"net.spy.memcached.", nil, evidence.NetWait, "", rankIO},
	{"net.rubyeye.xmemcached.", nil, evidence.NetWait, "", rankIO},
	{"com.aerospike.", nil, evidence.NetWait, "", rankIO},
	{"com.couchbase.", nil, evidence.NetWait, "", rankIO},
	{"org.elasticsearch.", nil, evidence.NetWait, "", rankIO},
	{"co.elastic.", nil, evidence.NetWait, "", rankIO},
	{"org.opensearch.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.hadoop.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.zookeeper.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.curator.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.kafka.clients.", nil, evidence.NetWait, "", rankIO},
	{"com.rabbitmq.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.activemq.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.rocketmq.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.dubbo.", nil, evidence.NetWait, "", rankIO},
	{"com.alibaba.dubbo.", nil, evidence.NetWait, "", rankIO},
	{"com.taobao.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.thrift.", nil, evidence.NetWait, "", rankIO},
	{"io.grpc.stub.ClientCalls.", nil, evidence.NetWait, "", rankIO},
	{"okhttp3.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.http.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.hc.", nil, evidence.NetWait, "", rankIO},
	{"org.apache.commons.httpclient.", nil, evidence.NetWait, "", rankIO},
	{"org.asynchttpclient.", nil, evidence.NetWait, "", rankIO},
	{"jdk.internal.net.http.", nil, evidence.NetWait, "", rankIO},
	{"sun.net.www.", nil, evidence.NetWait, "", rankIO},
	{"com.sun.jndi.", nil, evidence.NetWait, "", rankIO},
	{"software.amazon.awssdk.", nil, evidence.NetWait, "", rankIO},
	{"com.amazonaws.", nil, evidence.NetWait, "", rankIO},
	{"java.net.Socket$SocketInputStream.", nil, evidence.NetWait, "", rankPrimitive},
	{"java.net.Socket", nil, evidence.NetWait, "", rankPrimitive},
	{"java.net.InetAddress", nil, evidence.NetWait, "DNS lookup", rankIO},
	{"java.net.Inet4AddressImpl.", nil, evidence.NetWait, "DNS lookup", rankIO},
	{"java.net.Inet6AddressImpl.", nil, evidence.NetWait, "DNS lookup", rankIO},
	{"sun.security.ssl.SSLSocketImpl.", []string{"startHandshake", "ensureNegotiated"}, evidence.NetWait, "TLS handshake", rankPrimitive},
}
