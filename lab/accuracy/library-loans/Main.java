import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The loans of a library's readers, on Jetty with the two hundred threads it has by default. */
public final class Main extends Handler.Abstract {
    record Loan(String title, LocalDate due) {}

    private final Map<Integer, List<Loan>> loans = new ConcurrentHashMap<>();

    private Main() {
        for (int reader = 0; reader < 20_000; reader++) {
            List<Loan> of = new ArrayList<>();
            for (int i = 0; i < 1 + reader % 5; i++) {
                of.add(new Loan("Volume " + (reader * 13 + i) % 7919, LocalDate.of(2026, 1, 1).plusDays((reader + i) % 300)));
            }
            loans.put(reader, of);
        }
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String path = Request.getPathInContext(request);
        if (!path.startsWith("/readers/")) {
            return false;
        }
        List<Loan> of = loans.getOrDefault(Integer.parseInt(path.substring("/readers/".length())), List.of());
        StringBuilder json = new StringBuilder("[");
        for (Loan loan : of) {
            json.append(json.length() > 1 ? "," : "").append("{\"title\":\"").append(loan.title()).append("\",\"due\":\"").append(loan.due()).append("\"}");
        }
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
        response.write(true, ByteBuffer.wrap(json.append(']').toString().getBytes(StandardCharsets.UTF_8)), callback);
        return true;
    }

    public static void main(String[] args) throws Exception {
        String[] at = System.getenv("ADDR").split(":");
        Server server = new Server(new QueuedThreadPool());
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(at[0]);
        connector.setPort(Integer.parseInt(at[1]));
        server.addConnector(connector);
        server.setHandler(new Main());
        server.start();
        server.join();
    }
}
