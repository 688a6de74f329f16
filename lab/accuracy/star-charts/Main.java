import com.sun.net.httpserver.HttpServer;
import java.util.concurrent.*;

/** Star charts on virtual threads: one of thirty requests computes for 150 ms and keeps its carrier. */
public class Main {
    static java.net.InetSocketAddress at(String name) {
        String v = System.getenv(name);
        int colon = v.lastIndexOf(':');
        return new java.net.InetSocketAddress(v.substring(0, colon), Integer.parseInt(v.substring(colon + 1)));
    }

    public static void main(String[] a) throws Exception {
        HttpServer s = HttpServer.create(at("ADDR"), 500);
        s.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        s.createContext("/", x -> {
            byte[] b = (x.getRequestURI().getPath().startsWith("/chart") ? "" + orbit() : "a star\n").getBytes();
            x.sendResponseHeaders(200, b.length);
            x.getResponseBody().write(b);
            x.close();
        });
        s.start();
    }
    static double orbit() {
        double d = 0;
        long end = System.nanoTime() + 150_000_000L;
        for (long i = 0; System.nanoTime() < end; i++) d += Math.atan(i) * d;
        return d;
    }
}
