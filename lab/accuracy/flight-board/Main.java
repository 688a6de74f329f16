import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** Shows what flies where: a virtual thread for each request asks the tower, which takes the same few ms each time. */
public final class Main {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).executor(Executors.newVirtualThreadPerTaskExecutor()).build();
    private static final String TOWER = "http://" + System.getenv("ADDR_TOWER") + "/flight/";

    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 512);
        server.createContext("/board/", Main::board);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    private static void board(HttpExchange exchange) throws IOException {
        try (exchange) {
            String flight = exchange.getRequestURI().getPath().substring("/board/".length());
            byte[] answer;
            int status = 200;
            try {
                HttpRequest request = HttpRequest.newBuilder(URI.create(TOWER + flight)).build();
                String said = CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body();
                answer = ("<tr><td>" + flight + "</td><td>" + said + "</td></tr>").getBytes(StandardCharsets.UTF_8);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                answer = new byte[0];
                status = 503;
            }
            exchange.sendResponseHeaders(status, answer.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(answer);
            }
        }
    }
}
