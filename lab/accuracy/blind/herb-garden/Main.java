import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.Executors;

/** Herbs for a kitchen. The botanist's service knows which are poisonous, and for one question in twenty thinks about it. */
public class Main {
    static final HttpClient botanist = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(1)).build();

    static String verdict(String herb) throws IOException {
        var question = HttpRequest.newBuilder(URI.create("http://" + System.getenv("ADDR_BOTANIST") + "/verdict/" + herb)).timeout(Duration.ofSeconds(5)).build();
        try {
            return botanist.send(question, BodyHandlers.ofString()).body();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    public static void main(String[] args) throws IOException {
        String addr = System.getenv("ADDR");
        int colon = addr.indexOf(':');
        HttpServer garden = HttpServer.create(new InetSocketAddress(addr.substring(0, colon), Integer.parseInt(addr.substring(colon + 1))), 128);
        garden.setExecutor(Executors.newCachedThreadPool());
        garden.createContext("/herb/", x -> {
            try (x) {
                byte[] body = verdict(x.getRequestURI().getPath().substring(6)).getBytes();
                x.getResponseHeaders().add("Content-Type", "application/json");
                x.sendResponseHeaders(200, body.length);
                x.getResponseBody().write(body);
            }
        });
        garden.start();
    }
}
