package threads

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// under puts frames into a thread of a server's pool that works on a request.
func under(server string, frames ...string) []string {
	return append(frames, strings.Fields(map[string]string{
		"tomcat": `shop.CartController.get jdk.internal.reflect.GeneratedMethodAccessor.invoke java.lang.reflect.Method.invoke
			org.springframework.web.method.support.InvocableHandlerMethod.doInvoke org.springframework.web.servlet.DispatcherServlet.doService
			javax.servlet.http.HttpServlet.service org.apache.catalina.core.ApplicationFilterChain.internalDoFilter org.apache.catalina.connector.CoyoteAdapter.service
			org.apache.coyote.http11.Http11Processor.service org.apache.tomcat.util.net.NioEndpoint$SocketProcessor.doRun java.util.concurrent.ThreadPoolExecutor.runWorker
			java.util.concurrent.ThreadPoolExecutor$Worker.run org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run java.lang.Thread.run [http-nio-8080-exec]`,
		"jetty": `shop.CartServlet.doGet jakarta.servlet.http.HttpServlet.service org.eclipse.jetty.servlet.ServletHolder.handle org.eclipse.jetty.server.Server.handle
			org.eclipse.jetty.server.HttpChannel.handle org.eclipse.jetty.io.FillInterest.fillable org.eclipse.jetty.util.thread.QueuedThreadPool.runJob
			org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run java.lang.Thread.run [qtp1904106]`,
		"undertow": `shop.CartResource.get io.undertow.servlet.handlers.ServletHandler.handleRequest io.undertow.server.Connectors.executeRootHandler
			org.jboss.threads.EnhancedQueueExecutor$ThreadBody.run org.xnio.XnioWorker$WorkerThreadFactory$1$1.run java.lang.Thread.run [XNIO-1 task]`,
		"thread": `shop.Job.run java.lang.Thread.run [Thread]`,
	}[server])...)
}

const (
	park  = "sun.misc.Unsafe.park"
	await = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await"
	read8 = "java.net.SocketInputStream.socketRead0"
	read  = "sun.nio.ch.SocketDispatcher.read0"
)

func TestJVM(t *testing.T) {
	for _, c := range []struct {
		what   string
		frames []string
		role   threadstack.Role
		state  evidence.Kind
		says   string // pattern · owner
	}{
		{"computes", under("tomcat", "java.util.HashMap.hash", "java.util.HashMap.get"), threadstack.Worker, evidence.Running, " · CartController.get()"},
		{"monitor", under("tomcat", "- waiting to lock (a shop.Cart)"), threadstack.Worker, evidence.LockWait, "synchronized · CartController.get()"},
		{"lock", under("tomcat", "- parking to wait for (a java.util.concurrent.locks.ReentrantLock$NonfairSync)", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park",
			"java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire", "java.util.concurrent.locks.ReentrantLock$Sync.lock", "java.util.concurrent.locks.ReentrantLock.lock"),
			threadstack.Worker, evidence.LockWait, "ReentrantLock · CartController.get()"},
		{"the lock of a queue", under("tomcat", park, "java.util.concurrent.locks.ReentrantLock.lock", "java.util.concurrent.ArrayBlockingQueue.offer", "ch.qos.logback.core.AsyncAppenderBase.put"),
			threadstack.Worker, evidence.LockWait, "ReentrantLock · CartController.get()"},
		{"Hikari", under("tomcat", park, "java.util.concurrent.locks.LockSupport.parkNanos", "java.util.concurrent.SynchronousQueue$TransferStack.transfer", "java.util.concurrent.SynchronousQueue.poll",
			"com.zaxxer.hikari.util.ConcurrentBag.borrow", "com.zaxxer.hikari.pool.HikariPool.getConnection", "com.zaxxer.hikari.HikariDataSource.getConnection", "org.springframework.jdbc.datasource.DataSourceUtils.fetchConnection"),
			threadstack.Worker, evidence.PoolWait, "HikariPool.getConnection · CartController.get()"},
		{"Druid", under("tomcat", park, "java.util.concurrent.locks.LockSupport.park", await, "com.alibaba.druid.pool.DruidDataSource.takeLast", "com.alibaba.druid.pool.DruidDataSource.getConnectionInternal",
			"com.alibaba.druid.filter.FilterChainImpl.dataSource_connect", "com.alibaba.druid.pool.DruidDataSource.getConnection"), threadstack.Worker, evidence.PoolWait, "DruidDataSource.getConnection · CartController.get()"},
		{"Jedis' pool", under("jetty", park, "java.util.concurrent.locks.LockSupport.parkNanos", await+"Nanos", "org.apache.commons.pool2.impl.LinkedBlockingDeque.pollFirst",
			"org.apache.commons.pool2.impl.GenericObjectPool.borrowObject", "redis.clients.util.Pool.getResource", "redis.clients.jedis.JedisPool.getResource"), threadstack.Worker, evidence.PoolWait, "GenericObjectPool.borrowObject · CartServlet.doGet()"},
		{"c3p0", under("tomcat", "- waiting on (a com.mchange.v2.resourcepool.BasicResourcePool)", "java.lang.Object.wait", "com.mchange.v2.resourcepool.BasicResourcePool.awaitAvailable",
			"com.mchange.v2.resourcepool.BasicResourcePool.checkoutResource", "com.mchange.v2.c3p0.impl.C3P0PooledConnectionPool.checkoutPooledConnection"), threadstack.Worker, evidence.PoolWait, "BasicResourcePool.checkoutResource · CartController.get()"},
		{"a pool that connects", under("tomcat", read8, "java.net.SocketInputStream.read", "com.mysql.jdbc.MysqlIO.doHandshake", "com.mysql.jdbc.ConnectionImpl.connect", "org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection"),
			threadstack.Worker, evidence.NetWait, "sync I/O: ConnectionImpl.connect · CartController.get()"},
		{"MySQL", under("tomcat", read, "sun.nio.ch.SocketDispatcher.read", "sun.nio.ch.NioSocketImpl.tryRead", "java.net.Socket$SocketInputStream.read", "com.mysql.cj.protocol.ReadAheadInputStream.fill",
			"com.mysql.cj.NativeSession.execSQL", "com.mysql.cj.jdbc.ClientPreparedStatement.executeQuery", "com.zaxxer.hikari.pool.ProxyPreparedStatement.executeQuery", "org.hibernate.loader.Loader.getResultSet"),
			threadstack.Worker, evidence.NetWait, "sync I/O: ClientPreparedStatement.executeQuery · CartController.get()"},
		{"a timed read", under("tomcat", "sun.nio.ch.Net.poll", "sun.nio.ch.NioSocketImpl.park", "sun.nio.ch.NioSocketImpl.timedRead", "java.net.Socket$SocketInputStream.read", "org.postgresql.core.v3.QueryExecutorImpl.execute", "org.postgresql.jdbc.PgStatement.executeQuery"),
			threadstack.Worker, evidence.NetWait, "sync I/O: PgStatement.executeQuery · CartController.get()"},
		{"sockets before JDK 13", under("undertow", "sun.nio.ch.FileDispatcherImpl.read0", "sun.nio.ch.SocketDispatcher.read", "sun.nio.ch.IOUtil.read", "sun.nio.ch.SocketChannelImpl.read"),
			threadstack.Worker, evidence.NetWait, "sync I/O: SocketDispatcher.read · CartResource.get()"},
		{"Lettuce", under("tomcat", park, "java.util.concurrent.CompletableFuture$Signaller.block", "java.util.concurrent.CompletableFuture.get", "io.lettuce.core.protocol.AsyncCommand.await", "io.lettuce.core.LettuceFutures.awaitOrCancel", "$Proxy.get"),
			threadstack.Worker, evidence.NetWait, "sync I/O: LettuceFutures.awaitOrCancel · CartController.get()"},
		{"HttpClient", under("tomcat", park, "java.util.concurrent.CompletableFuture.get", "jdk.internal.net.http.HttpClientImpl.send"), threadstack.Worker, evidence.NetWait, "sync I/O: HttpClientImpl.send · CartController.get()"},
		{"HttpClient's pool", under("tomcat", park, await, "org.apache.http.pool.AbstractConnPool.getPoolEntryBlocking", "org.apache.http.impl.conn.PoolingHttpClientConnectionManager.leaseConnection", "org.apache.http.impl.client.CloseableHttpClient.execute"),
			threadstack.Worker, evidence.PoolWait, "PoolingHttpClientConnectionManager.leaseConnection · CartController.get()"},
		{"future", under("tomcat", park, "java.util.concurrent.FutureTask.awaitDone", "java.util.concurrent.FutureTask.get"), threadstack.Worker, evidence.TaskWait, "FutureTask.get · CartController.get()"},
		{"latch", under("tomcat", park, "java.util.concurrent.CountDownLatch.await"), threadstack.Worker, evidence.SyncWait, "CountDownLatch.await · CartController.get()"},
		{"semaphore", under("tomcat", park, "java.util.concurrent.Semaphore.acquire"), threadstack.Worker, evidence.PoolWait, "Semaphore.acquire · CartController.get()"},
		{"its client", under("tomcat", "java.net.SocketOutputStream.socketWrite0", "org.apache.coyote.http11.InternalOutputBuffer.realWriteBytes", "org.apache.catalina.connector.OutputBuffer.flush", "org.apache.catalina.connector.CoyoteOutputStream.write"),
			threadstack.Worker, evidence.ClientWait, "sync I/O: InternalOutputBuffer.realWriteBytes · CartController.get()"},
		{"its client, by a callback of Jetty", under("jetty", park, "java.util.concurrent.locks.LockSupport.park", await, "org.eclipse.jetty.util.SharedBlockingCallback$Blocker.block", "org.eclipse.jetty.server.HttpOutput.write"),
			threadstack.Worker, evidence.ClientWait, "sync I/O: HttpOutput.write · CartServlet.doGet()"},
		{"what a library does for the server that called it", append([]string{park, "java.util.concurrent.locks.LockSupport.parkNanos", "java.util.concurrent.CountDownLatch.await", "org.apache.camel.component.seda.SedaProducer.process",
			"org.apache.camel.processor.Pipeline.process", "org.apache.camel.component.undertow.CartConsumer.handleRequest"}, strings.Fields(`io.undertow.server.Connectors.executeRootHandler io.undertow.server.HttpServerExchange$1.run
			org.jboss.threads.EnhancedQueueExecutor$ThreadBody.run org.xnio.XnioWorker$WorkerThreadFactory$1$1.run java.lang.Thread.run [XNIO-1]`)...),
			threadstack.Worker, evidence.SyncWait, "CountDownLatch.await · SedaProducer.process()"},
		{"a file", under("tomcat", "java.io.FileOutputStream.writeBytes", "java.io.FileOutputStream.write"), threadstack.Worker, evidence.Syscall, "sync I/O: FileOutputStream.writeBytes · CartController.get()"},
		{"sleeps", under("thread", "java.lang.Thread.sleep"), threadstack.Other, evidence.SleepWait, "Thread.sleep · Job.run()"},
		{"sleeps, virtual", []string{"java.lang.VirtualThread.parkNanos", "java.lang.VirtualThread.sleepNanos", "java.lang.Thread.sleepNanos", "java.lang.Thread.sleep", "shop.Job.run", "java.lang.VirtualThread.run", "[virtual]"},
			threadstack.Other, evidence.SleepWait, "Thread.sleep · Job.run()"},
		{"has its queue to wait for", under("thread", park, await, "java.util.concurrent.LinkedBlockingQueue.take"), threadstack.Other, evidence.Idle, " · Job.run()"},
		{"a request that waits for a queue", under("tomcat", park, await, "java.util.concurrent.LinkedBlockingQueue.poll"), threadstack.Worker, evidence.SyncWait, "LinkedBlockingQueue.poll · CartController.get()"},
		{"idle", []string{park, await, "java.util.concurrent.LinkedBlockingQueue.take", "org.apache.tomcat.util.threads.TaskQueue.take", "java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[http-nio-8080-exec]"},
			threadstack.Worker, evidence.Idle, " · "},
		{"idle, Tomcat's own pool", []string{"jdk.internal.misc.Unsafe.park", "java.util.concurrent.LinkedBlockingQueue.poll", "org.apache.tomcat.util.threads.TaskQueue.poll", "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask", "org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run"},
			threadstack.Worker, evidence.Idle, " · "},
		{"idle, Jetty", []string{park, await + "Nanos", "org.eclipse.jetty.util.BlockingArrayQueue.poll", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run", "java.lang.Thread.run"},
			threadstack.Worker, evidence.Idle, " · "},
		{"idle, reserved by Jetty", []string{park, await + "Nanos", "java.util.concurrent.SynchronousQueue.poll", "org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.reservedWait",
			"org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.run", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run", "java.lang.Thread.run"},
			threadstack.Worker, evidence.Idle, " · "},
		{"at work, reserved by Jetty before", append([]string{park, "java.util.concurrent.locks.LockSupport.park", await, "java.util.concurrent.ArrayBlockingQueue.put", "ch.qos.logback.core.AsyncAppenderBase.put",
			"ch.qos.logback.core.AsyncAppenderBase.append", "ch.qos.logback.classic.Logger.info"}, strings.Fields(`shop.CartServlet.doGet jakarta.servlet.http.HttpServlet.service org.eclipse.jetty.server.Server.handle
			org.eclipse.jetty.util.thread.strategy.AdaptiveExecutionStrategy.run org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.run org.eclipse.jetty.util.thread.QueuedThreadPool.runJob
			org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run java.lang.Thread.run [dw]`)...),
			threadstack.Worker, evidence.SyncWait, "Logback's asynchronous appender, whose queue is full · CartServlet.doGet()"},
		{"idle, fork/join before JDK 17", []string{"jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park", "java.util.concurrent.ForkJoinPool.runWorker", "java.util.concurrent.ForkJoinWorkerThread.run"},
			threadstack.Worker, evidence.Idle, " · "},
		{"a kept connection", []string{read8, "java.net.SocketInputStream.read", "org.apache.coyote.http11.Http11InputBuffer.fill", "org.apache.coyote.http11.Http11Processor.service", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run"},
			threadstack.Worker, evidence.Idle, " · "},
		{"too many connections", []string{park, "java.util.concurrent.locks.LockSupport.park", "org.apache.tomcat.util.threads.LimitLatch.countUpOrAwait", "org.apache.tomcat.util.net.AbstractEndpoint.countUpOrAwaitConnection", "org.apache.tomcat.util.net.Acceptor.run", "java.lang.Thread.run"},
			threadstack.IO, evidence.PoolWait, "maxConnections · "},
		{"accepts", []string{"sun.nio.ch.Net.accept", "sun.nio.ch.ServerSocketChannelImpl.accept", "org.apache.tomcat.util.net.Acceptor.run", "java.lang.Thread.run"}, threadstack.IO, evidence.Idle, " · "},
		{"accepts with a timeout", []string{"sun.nio.ch.Net.poll", "sun.nio.ch.NioSocketImpl.park", "sun.nio.ch.NioSocketImpl.accept", "java.net.ServerSocket.accept", "shop.Server.run"}, threadstack.IO, evidence.Idle, " · Server.run()"},
		{"selects", []string{"sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollSelectorImpl.doSelect", "io.netty.channel.nio.NioEventLoop.run", "java.lang.Thread.run"}, threadstack.IO, evidence.Idle, " · "},
		{"selects on a thread of the pool that serves", []string{"sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollSelectorImpl.doSelect", "sun.nio.ch.SelectorImpl.select", "org.eclipse.jetty.io.ManagedSelector.select",
			"org.eclipse.jetty.util.thread.strategy.AdaptiveExecutionStrategy.produce", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run", "java.lang.Thread.run", "[qtp]"}, threadstack.IO, evidence.Idle, " · "},
		{"hands a call of gRPC over", []string{"java.util.concurrent.ThreadPoolExecutor.execute", "io.grpc.internal.SerializingExecutor.schedule", "io.grpc.internal.SerializingExecutor.execute",
			"io.grpc.internal.ServerImpl$JumpToApplicationThreadServerStreamListener.messagesAvailable", "io.grpc.internal.MessageDeframer.request", "io.netty.channel.nio.NioEventLoop.run", "java.lang.Thread.run", "[grpc-nio-worker-ELG-3]"},
			threadstack.IO, evidence.Running, " · SerializingExecutor.schedule()"},
		{"times", []string{"java.lang.Object.wait", "java.util.TimerThread.mainLoop", "java.util.TimerThread.run"}, threadstack.Timer, evidence.Idle, " · "},
		{"carries a virtual thread", []string{"jdk.internal.vm.Continuation.run", "java.lang.VirtualThread.runContinuation", "java.util.concurrent.ForkJoinPool.runWorker", "java.util.concurrent.ForkJoinWorkerThread.run"}, threadstack.Worker, evidence.Idle, " · "},
		{"the machine's own", []string{"[GC Thread]"}, threadstack.Runtime, evidence.Idle, " · "},
		{"nothing", nil, threadstack.Runtime, evidence.Idle, " · "},
		{"a library alone", []string{read, "com.rabbitmq.client.impl.SocketFrameHandler.readFrame", "com.rabbitmq.client.impl.AMQConnection$MainLoop.run", "java.lang.Thread.run"}, threadstack.IO, evidence.Idle, " · AMQConnection$MainLoop.run()"},
	} {
		v := threadstack.JVM(stacktest.Of(c.frames...), "")
		if got := v.Pattern + " · " + v.Owner; v.Role != c.role || v.State != c.state || got != c.says {
			t.Errorf("%s: %q %v, %s; want %q %v, %s", c.what, v.Role, v.State, got, c.role, c.state, c.says)
		}
		if served := strings.Contains(strings.Join(c.frames, " "), "Cart"); served != v.Request {
			t.Errorf("%s: works on a request: %v", c.what, v.Request)
		}
	}
}

// Whose pool a thread is of says where its size is set; a server on the JDK's executor is one.
func TestPoolSize(t *testing.T) {
	for _, c := range []struct {
		frames []string
		want   string // begins with
	}{
		{[]string{"shop.CartServlet.get", "org.apache.catalina.core.ApplicationFilterChain.doFilter", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[http-nio-8080-exec]"}, "maxThreads"},
		{[]string{"shop.CartServlet.get", "org.eclipse.jetty.server.Server.handle", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run", "java.lang.Thread.run", "[qtp]"}, "jetty.threadPool.maxThreads"},
		{[]string{"shop.Cart.get", "java.util.concurrent.ForkJoinWorkerThread.run", "[ForkJoinPool.commonPool-worker]"}, "-Djava.util.concurrent.ForkJoinPool.common.parallelism"},
		{[]string{"shop.Cart.get", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[carts]"}, "corePoolSize"},
		{[]string{"shop.Cart.get", "java.lang.Thread.run", "[carts]"}, ""},
	} {
		v := threadstack.JVM(stacktest.Of(c.frames...), "")
		if !strings.HasPrefix(v.Size, c.want) || c.want == "" && v.Size != "" {
			t.Errorf("%v: %q, want %q", c.frames, v.Size, c.want)
		}
	}
}

// What the program's own package is may be known better than by the list of libraries.
func TestJVMEntry(t *testing.T) {
	frames := []string{"com.alibaba.shop.Cart.get", "java.lang.Thread.run"}
	if v := threadstack.JVM(threadstack.Stack{Frames: frames}, ""); !v.Library {
		t.Error("no library")
	}
	if v := threadstack.JVM(threadstack.Stack{Frames: frames}, "com.alibaba.shop.Main"); v.Library || v.Owner != "Cart.get()" {
		t.Errorf("%+v", v)
	}
}
