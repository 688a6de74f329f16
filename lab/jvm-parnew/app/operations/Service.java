package operations;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * The platform's HTTP service: one request asks the database forty times and answers
 * with a tree. It says where it serves and ends with its standard input.
 */
public final class Service {
    private Service() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        PrintStream out = System.out;
        System.setOut(System.err); // the first line is ours
        Logger.getLogger("").setLevel(Level.WARNING);

        Path home = Files.createTempDirectory("operations-");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(home.toString());
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(options.port);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", Integer.toString(options.threads));
        connector.setProperty("minSpareThreads", Integer.toString(options.threads));
        connector.setProperty("acceptCount", "1000");
        connector.setProperty("maxKeepAliveRequests", "-1");
        tomcat.setConnector(connector);

        Database database = new Database(options.database, options.pool);
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "tree", new TreeServlet(options, database, Spans.open(options.spans, options.sampled, options.database)));
        context.addServletMappingDecoded("/tree", "tree");
        Gauges.open(options.gauges, database);
        tomcat.start();

        out.println("{\"serving\":\"127.0.0.1:" + connector.getLocalPort() + "\",\"pid\":" + ProcessHandle.current().pid() + "}");
        out.flush();
        untilInputEnds();
        tomcat.stop();
        tomcat.destroy();
        delete(home);
        System.exit(0);
    }

    private static void untilInputEnds() throws IOException {
        while (System.in.read() >= 0) {
            // what is said does not matter, only that somebody is there
        }
    }

    private static void delete(Path home) throws IOException {
        try (var below = Files.walk(home)) {
            for (Path path : (Iterable<Path>) below.sorted(java.util.Comparator.reverseOrder())::iterator) {
                Files.delete(path);
            }
        }
    }
}
