import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Executors;

/** Car insurance: a quote needs the rating of an insurer; four threads serve. */
public class Main {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(2)).build();
    private final URI insurer = URI.create("http://" + System.getenv("ADDR_INSURER") + "/rating");

    public static void main(String[] args) throws IOException {
        new Main().start(System.getenv("ADDR"));
    }

    void start(String addr) throws IOException {
        int colon = addr.lastIndexOf(':');
        HttpServer server = HttpServer.create(new InetSocketAddress(addr.substring(0, colon), Integer.parseInt(addr.substring(colon + 1))), 300);
        server.createContext("/quote", this::quote);
        server.createContext("/terms", x -> respond(x, 200, "terms of 2024"));
        server.setExecutor(Executors.newFixedThreadPool(4, task -> new Thread(task, "quote-worker")));
        server.start();
    }

    void quote(HttpExchange x) throws IOException {
        try {
            HttpResponse<String> rating = client.send(HttpRequest.newBuilder(insurer).timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofString());
            respond(x, 200, "premium " + 311 * Integer.parseInt(rating.body().trim()) / 100);
        } catch (InterruptedException e) {
            respond(x, 503, "stopped");
        }
    }

    static void respond(HttpExchange x, int status, String text) throws IOException {
        x.sendResponseHeaders(status, text.length());
        x.getResponseBody().write(text.getBytes());
        x.close();
    }
}
