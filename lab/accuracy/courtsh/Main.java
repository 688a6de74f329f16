import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;

/** Court files: paragraphs are cut out and joined again; those of the last hours stay. */
public class Main {
    static final class Shelf extends LinkedHashMap<String, String[]> {
        @Override protected boolean removeEldestEntry(Map.Entry<String, String[]> e) { return size() > 3000; }
    }

    static final Shelf shelf = new Shelf();

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        server.createContext("/file", x -> {
            String id = x.getRequestURI().getPath();
            String[] paragraphs = new String[160];
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < paragraphs.length; i++) {
                paragraphs[i] = id + ": paragraph " + i + " holds that the parties of " + i * 31 % 97 + " agree.";
                all.append(paragraphs[i]).append('\n');
            }
            String[] words = all.toString().split(" ");
            synchronized (shelf) {
                shelf.put(id, paragraphs);
            }
            byte[] body = (words.length + " words").getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
    }
}
