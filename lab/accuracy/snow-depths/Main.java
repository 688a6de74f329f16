import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * How deep the snow is: measures of the last hours, the newest at the end. An almanac makes room for new ones. With FAULT=0
 * it moves the others in pieces, between which it can be stopped.
 */
public class Main {
    static final int MEASURES = 200_000_000, NEW = 4_000, PIECE = 16_384, STEPS = 6000;
    static final boolean AT_ONCE = !"0".equals(System.getenv("FAULT"));
    static final long[] measures = new long[MEASURES];

    /** Takes new measures from the slopes, and forgets the oldest. */
    static final class Almanac implements Runnable {
        int taken;

        void shiftWindow() {
            int stay = MEASURES - NEW, step = AT_ONCE ? stay : PIECE;
            for (int at = 0; at < stay; at += step) {
                System.arraycopy(measures, at + NEW, measures, at, Math.min(step, stay - at));
                Thread.yield();
            }
            for (int at = stay; at < MEASURES; at++) measures[at] = taken++ % 317;
        }

        @Override
        public void run() {
            try {
                while (true) {
                    Thread.sleep(450);
                    shiftWindow();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < MEASURES; i++) measures[i] = i % 317;
        Thread keeper = new Thread(new Almanac(), "almanac");
        keeper.setDaemon(true);
        keeper.start();
        String[] address = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 300);
        server.setExecutor(Executors.newFixedThreadPool(40));
        server.createContext("/slope/", x -> {
            String path = x.getRequestURI().getPath();
            byte[] body = profile(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1))).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.start();
    }

    /** Describes a slope from the top to the valley. */
    static String profile(int slope) {
        List<String> heights = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) heights.add("at " + step + " m: " + measures[(int) ((slope * 7919L + step * 411L) % MEASURES)] + " cm");
        return "slope " + slope + ": " + heights.size() + " heights, " + heights.stream().max(String::compareTo).orElse("") + "\n";
    }
}
