import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** Rings of birds: where a bird was ringed, and reports of whole seasons out of the archive. */
public class Main {
    record Find(String species, String place, int year) {}

    static final Map<String, Find> finds = new HashMap<>();
    static final String[] archive = System.getenv("ADDR_ARCHIVE").split(":");

    public static void main(String[] args) throws Exception {
        String[] species = {"stork", "kite", "tern", "wren", "crane"};
        for (int i = 0; i < 4000; i++) finds.put("HES-" + i, new Find(species[i % 5], "station " + i % 70, 1990 + i % 30));
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/ring/", x -> {
            Find find = finds.get(x.getRequestURI().getPath().substring(6));
            answer(x, find == null ? 404 : 200, String.valueOf(find));
        });
        server.createContext("/season/", x -> answer(x, 200, report(x.getRequestURI().getPath().substring(8))));
        server.setExecutor((Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        server.start();
    }

    /** A season is ten pages; each says where the next one begins. */
    static String report(String season) throws IOException {
        try (Socket socket = new Socket(archive[0], Integer.parseInt(archive[1]))) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            int birds = 0, next = season.hashCode();
            for (int page = 0; page < 10; page++) {
                socket.getOutputStream().write(("GET " + season + "-" + next + "\n").getBytes());
                String said = in.readLine();
                birds += said.length();
                next = said.hashCode();
            }
            return birds + " birds";
        }
    }

    static void answer(HttpExchange x, int status, String text) throws IOException {
        byte[] body = text.getBytes();
        x.sendResponseHeaders(status, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
