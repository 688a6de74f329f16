import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;

/** Spam: rules as regular expressions over a message; one of them backtracks over a long line of dashes. */
public class Main {
    static class Rules {
        final List<Pattern> cheap = List.of(Pattern.compile("(?i)lottery|winner"), Pattern.compile("\\d{4}-\\d{4}"));
        final Pattern footer = Pattern.compile("^(.*)-(.*)-(.*)unsubscribe$", Pattern.MULTILINE);

        boolean spam(String message) {
            for (Pattern p : cheap) if (p.matcher(message).find()) return true;
            return footer.matcher(message).find();
        }
    }

    static final Rules rules = new Rules();
    static final String DASHES = "-".repeat("0".equals(System.getenv("FAULT")) ? 8 : 330) + "x";

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/check", Main::check);
        server.createContext("/health", x -> say(x, "fine"));
        server.setExecutor(Executors.newFixedThreadPool(12));
        server.start();
    }

    static void check(HttpExchange x) throws IOException {
        int n = Math.abs(x.getRequestURI().getPath().hashCode());
        String message = "Dear customer " + n + ",\nyour invoice is attached.\n" + (n % 10 < 4 ? DASHES.substring(n % 7 * DASHES.length() / 60) : "-- sales");
        say(x, rules.spam(message) ? "spam" : "ham");
    }

    static void say(HttpExchange x, String text) throws IOException {
        x.sendResponseHeaders(200, text.length());
        x.getResponseBody().write(text.getBytes());
        x.close();
    }
}
