import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** Weather: the forecast of a place, interpolated from a grid. */
public class Main {
    static final float[][] grid = new float[720][1440];

    public static void main(String[] args) throws IOException {
        for (int y = 0; y < grid.length; y++) for (int x = 0; x < grid[y].length; x++) grid[y][x] = (float) (Math.sin(y * .01) * 30 + Math.cos(x * .02) * 5);
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/forecast", Main::forecast);
        server.setExecutor(Executors.newFixedThreadPool(20));
        server.start();
    }

    static void forecast(HttpExchange e) throws IOException {
        int place = e.getRequestURI().getPath().hashCode() & 0x7fffffff;
        double sum = 0;
        for (int step = 0; step < 48; step++)
            for (int i = 0; i < 900; i++) {
                int y = (place + step * 3 + i / 30) % 719, x = (place / 720 + i) % 1439;
                sum += grid[y][x] * 0.5 + grid[y + 1][x + 1] * 0.5 + Math.sqrt(i + step);
            }
        byte[] body = String.format("%.3f degrees", sum / 43200).getBytes();
        e.sendResponseHeaders(200, body.length);
        e.getResponseBody().write(body);
        e.close();
    }
}
