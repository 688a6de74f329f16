import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims: each is written to an audit log before and after it is decided. */
public class Main {
    private static final Logger AUDIT = LoggerFactory.getLogger("audit");

    public static void main(String[] args) throws IOException {
        log();
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 500);
        server.createContext("/claim/", Main::claim);
        server.setExecutor(Executors.newFixedThreadPool(200));
        server.start();
    }

    /** Sets logging up: a queue of 64 lines that drops nothing, and a thread that sends them. */
    private static void log() throws IOException {
        String[] at = System.getenv("ADDR_COLLECTOR").split(":");
        Socket collector = new Socket();
        collector.setSendBufferSize(4096);
        collector.connect(new InetSocketAddress(at[0], Integer.parseInt(at[1])));
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%d{ISO8601} %-5level [%thread] %logger{20} - %msg%n");
        encoder.start();
        OutputStreamAppender<ILoggingEvent> lines = new OutputStreamAppender<>();
        lines.setContext(context);
        lines.setEncoder(encoder);
        lines.setOutputStream(collector.getOutputStream());
        lines.start();
        AsyncAppender queue = new AsyncAppender();
        queue.setContext(context);
        queue.setQueueSize(64);
        queue.setDiscardingThreshold(0);
        queue.addAppender(lines);
        queue.start();
        ch.qos.logback.classic.Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.addAppender(queue);
        root.setLevel(Level.INFO);
    }

    private static void claim(HttpExchange x) throws IOException {
        String claim = x.getRequestURI().getPath().substring("/claim/".length());
        AUDIT.info("claim {} received from {} with {} headers", claim, x.getRemoteAddress(), x.getRequestHeaders().size());
        long risk = 0;
        for (int i = 0; i < 2000; i++) {
            risk = risk * 31 + claim.hashCode() + i;
        }
        String decision = risk % 7 == 0 ? "referred to an adjuster" : "accepted";
        AUDIT.info("claim {} {}: risk class {}, policy checked, no earlier claims", claim, decision, Long.toHexString(risk));
        x.sendResponseHeaders(200, decision.length());
        x.getResponseBody().write(decision.getBytes());
        x.close();
    }
}
