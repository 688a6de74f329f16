package threadstack

// jvmPoolSizes are the settings of pools' sizes, by the library that owns the pool, which the frames of its threads show. Innermost libraries
// come last, because a server may run on an executor of the JDK. First match wins.
var jvmPoolSizes = []struct {
	prefix  string // of a frame
	setting string
}{
	{"org.eclipse.jetty.util.thread.QueuedThreadPool", "jetty.threadPool.maxThreads (start.d/threadpool.ini), new QueuedThreadPool(N), or server.jetty.threads.max in Spring Boot; acceptors and selectors take some of them"},
	{"org.apache.tomcat.util.threads.", tomcatPool},
	{"org.apache.tomcat.util.net.", tomcatPool},
	{"org.apache.coyote.", tomcatPool}, // Tomcat before 9.0.55 runs on the JDK's executor
	{"org.apache.catalina.", tomcatPool},
	{"org.jboss.threads.", undertowPool},
	{"io.undertow.", undertowPool},
	{"org.glassfish.grizzly.threadpool.", "max-thread-pool-size of the thread pool in domain.xml, or ThreadPoolConfig.setMaxPoolSize of Grizzly"},
	{"weblogic.", "a MaxThreadsConstraint of the work manager, or -Dweblogic.threadpool.MaxPoolSize"},
	{"com.ibm.ws.", "maxThreads of <executor> in server.xml"},
	{"com.caucho.", "<thread-max> in resin.xml"},
	{"io.grpc.", "ServerBuilder.executor, with a pool of more threads"},
	{"sun.net.httpserver.", "HttpServer.setExecutor, with a pool of more threads"},
	{"io.netty.channel.", "-Dio.netty.eventLoopThreads, or the number given to the EventLoopGroup; what blocks is better handed to threads of its own"},
	{"io.netty.util.concurrent.", "the number of threads given to the DefaultEventExecutorGroup"},
	{"java.util.concurrent.ForkJoinWorkerThread.", "parallelism given to the ForkJoinPool"},
	{"java.util.concurrent.ThreadPoolExecutor$Worker.", "corePoolSize of the ThreadPoolExecutor (it starts more only when its queue is full), or the number given to Executors.newFixedThreadPool"},
}

const (
	tomcatPool   = "maxThreads of the <Connector> or its <Executor> in server.xml, or server.tomcat.threads.max in Spring Boot"
	undertowPool = "task-max-threads of the io worker in WildFly, quarkus.thread-pool.max-threads, or server.undertow.threads.worker in Spring Boot"
)

// commonPool is the JDK's name of the threads of the pool that a whole program shares.
const commonPool = "ForkJoinPool.commonPool-worker"

// findPoolSize finds the setting of the size of the thread's pool.
func (s *jvmStack) findPoolSize() {
	v := &s.view
	switch {
	case v.Role != Worker && !v.Loop:
		return
	case v.Pool == commonPool:
		v.Size = "-Djava.util.concurrent.ForkJoinPool.common.parallelism"
		return
	}
	for _, p := range jvmPoolSizes {
		for i := s.start; i < len(s.frames); i++ {
			if f := &s.frames[i]; !f.none && hasPrefix(f.name, []string{p.prefix}) {
				v.Size = p.setting
				return
			}
		}
	}
}
