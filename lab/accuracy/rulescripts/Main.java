import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.function.IntUnaryOperator;

/** Rules of credit, each loaded as a class; whoever made it reloads them for every application. */
public class Main {
    static byte[] code;
    static final boolean RELOAD = !"0".equals(System.getenv("FAULT"));
    static final Map<Integer, IntUnaryOperator> loaded = new ConcurrentHashMap<>();
    static final Map<Integer, Map<String, Integer>> applicants = new TreeMap<>();

    static class RuleLoader extends ClassLoader {
        RuleLoader() { super(Main.class.getClassLoader()); }

        IntUnaryOperator rule() {
            try {
                return (IntUnaryOperator) defineClass("Template", code, 0, code.length).getDeclaredConstructor().newInstance();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws IOException {
        try (InputStream in = Main.class.getResourceAsStream("/Template.class")) {
            code = in.readAllBytes();
        }
        for (int i = 0; i < 600_000; i++) {
            Map<String, Integer> file = new HashMap<>(4);
            file.put("income", i % 9000 + 200);
            file.put("debt", i % 7919 + 200);
            applicants.put(i, file);
        }
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        server.createContext("/decide", x -> {
            int who = Math.floorMod(x.getRequestURI().getPath().hashCode(), applicants.size());
            int score = 0;
            for (int rule = 0; rule < 26; rule++) {
                IntUnaryOperator r = RELOAD ? new RuleLoader().rule() : loaded.computeIfAbsent(rule, k -> new RuleLoader().rule());
                score += r.applyAsInt(applicants.get(who).get("income") + rule);
            }
            byte[] body = ("score " + score).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
    }
}
