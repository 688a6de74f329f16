import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;

/** Weather balloons: profiles of their soundings, and a forecast from them that one thread computes again and again. */
public class Main {
    record Level(double metres, double kelvin, double humidity, String wind) {}

    static final int WIDE = 220;
    static volatile double tomorrow = 280;

    public static void main(String[] args) throws Exception {
        Thread forecast = new Thread(Main::compute, "forecast");
        forecast.setDaemon(true);
        forecast.start();
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/sounding/", x -> {
            byte[] body = describe(x.getRequestURI().getPath().substring(10).hashCode()).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
    }

    /** Warmth spreads over a grid, step by step. */
    static void compute() {
        double[][] now = new double[WIDE][WIDE], next = new double[WIDE][WIDE];
        for (int y = 0; y < WIDE; y++)
            for (int x = 0; x < WIDE; x++) now[y][x] = 270 + (x * 31 + y * 17) % 25;
        for (long step = 0; ; step++) {
            for (int y = 1; y < WIDE - 1; y++)
                for (int x = 1; x < WIDE - 1; x++)
                    next[y][x] = now[y][x] + 0.2 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1] - 4 * now[y][x]) + Math.sin(step * 0.01) * 0.01;
            double[][] spare = now;
            now = next;
            next = spare;
            tomorrow = now[WIDE / 2][WIDE / 2];
        }
    }

    static String describe(int balloon) {
        List<Level> levels = new ArrayList<>();
        for (int i = 0; i < 1500; i++)
            levels.add(new Level(i * 20, tomorrow - i * 0.13, Math.floorMod(balloon + i, 100) / 100.0, i % 2 == 0 ? "NW" : "W"));
        double driest = 1;
        for (Level level : levels) driest = Math.min(driest, level.humidity());
        return String.format(Locale.ROOT, "%d levels, %.1f K at the ground, driest %.2f%n", levels.size(), levels.get(0).kelvin(), driest);
    }
}
