import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Notary: seals documents with a chain of digests, written in hexadecimal form at each link. */
public class Main {
    static final int LINKS = "0".equals(System.getenv("FAULT")) ? 300 : 8200;

    public static void main(String[] args) throws IOException {
        URI at = URI.create("http://" + System.getenv("ADDR"));
        HttpServer server = HttpServer.create(new InetSocketAddress(at.getHost(), at.getPort()), 1024);
        server.createContext("/seal", new Notary()::handle);
        server.setExecutor(new ThreadPoolExecutor(16, 16, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(20_000)));
        server.start();
    }

    static class Notary {
        final HexFormat hex = HexFormat.of().withUpperCase();

        void handle(HttpExchange exchange) throws IOException {
            byte[] document = exchange.getRequestURI().toString().getBytes();
            String stamp;
            try {
                stamp = stamp(document);
            } catch (NoSuchAlgorithmException e) {
                throw new IOException(e);
            }
            byte[] body = (stamp + "\n").getBytes();
            exchange.sendResponseHeaders(200, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }

        String stamp(byte[] document) throws NoSuchAlgorithmException {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            String link = hex.formatHex(digest.digest(document));
            for (int i = 0; i < LINKS; i++) {
                byte[] raw = hex.parseHex(link);
                link = hex.formatHex(digest.digest(raw));
            }
            return link;
        }
    }
}
