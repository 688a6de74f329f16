import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/** A cider press: casks in the cellar, and the sample of every pressing. Samples are listed by day, and no day is ever dropped. */
public class Main {
    static final class Sample {
        final String orchard;
        final Map<String, Double> measured = new HashMap<>();
        Sample(String orchard, int n) {
            this.orchard = orchard;
            for (String what : new String[] {"sugar", "acid", "tannin", "yeast"}) measured.put(what + n, n / 7.0);
        }
    }

    static final List<Deque<Sample>> casks = new ArrayList<>();
    static final Deque<Sample> samples = new ArrayDeque<>();
    static final Deque<byte[]> printed = new ArrayDeque<>(); // the last reports, for the printer

    public static void main(String[] args) throws IOException {
        boolean tidy = "0".equals(System.getenv("FAULT"));
        for (int cask = 0; cask < 400; cask++) {
            Deque<Sample> history = new ArrayDeque<>();
            for (int i = 0; i < 250; i++) history.add(new Sample("orchard-" + cask, i));
            casks.add(history);
        }
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer press = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        press.setExecutor(Executors.newFixedThreadPool(12));
        press.createContext("/pressing/", x -> {
            int n = Integer.parseInt(x.getRequestURI().getPath().substring(10));
            StringBuilder report = new StringBuilder();
            synchronized (samples) {
                for (int i = 0; i < 21; i++) samples.add(new Sample("orchard-" + n, n + i));
                while (tidy && samples.size() > 2000) samples.poll();
            }
            for (Sample s : casks.get(n % casks.size())) report.append(s.orchard).append(' ').append(s.measured).append('\n');
            byte[] body = report.toString().getBytes();
            synchronized (printed) {
                printed.add(body);
                if (printed.size() > 500) printed.poll();
            }
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        press.start();
    }
}
