import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/** An insurer's ratings: 6 ms when well; today one in three takes up to a quarter of a second. */
public class Insurer {
    public static void main(String[] args) throws IOException {
        boolean sick = !"0".equals(System.getenv("FAULT"));
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 100);
        server.createContext("/rating", x -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            try {
                Thread.sleep(sick && random.nextInt(3) == 0 ? random.nextInt(120, 250) : 6);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            byte[] body = String.valueOf(80 + random.nextInt(60)).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }
}
