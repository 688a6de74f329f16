import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Tin from a mine: what each level yields, kept in memory; young collections now and then, a lock nobody waits for. */
public class Main {
    record Load(int level, long grams, String lode) {}

    static final ConcurrentSkipListMap<Long, Load> hoisted = new ConcurrentSkipListMap<>();
    static final LongAdder grams = new LongAdder();
    private static final Object bell = new Object();
    private static long rung;

    static String yieldOf(int level) {
        List<Load> best = hoisted.descendingMap().values().stream().limit(400)
            .filter(l -> l.level() % 8 == level % 8)
            .sorted(Comparator.comparingLong(Load::grams).reversed())
            .limit(10).collect(Collectors.toList());
        return best.stream().map(l -> "%d g of %s".formatted(l.grams(), l.lode())).collect(Collectors.joining("\n", "level " + level + "\n", "\n"));
    }

    static String hoist(int n) {
        Load load = new Load(n % 23, 700 + n * 37L % 4000, "lode " + n % 11);
        synchronized (bell) {
            hoisted.put(++rung, load);
            if (hoisted.size() > 5_000) hoisted.pollFirstEntry();
        }
        grams.add(load.grams());
        return "hoisted\n";
    }

    public static void main(String[] args) throws Exception {
        for (int n = 0; n < 5_000; n++) hoist(n);
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer mine = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 128);
        var virtual = Executors.class.getMethod("newVirtualThreadPerTaskExecutor"); // older compilers do not know it
        mine.setExecutor((Executor) virtual.invoke(null));
        mine.createContext("/", x -> {
            int n = Integer.parseInt(x.getRequestURI().getPath().replaceAll("[^0-9]", ""));
            byte[] body = ("POST".equals(x.getRequestMethod()) ? hoist(n) : yieldOf(n)).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        mine.start();
    }
}
