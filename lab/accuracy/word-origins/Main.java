import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where words come from. With FAULT=0 all threads share one lexicon. */
public class Main {
    static final int WORDS = 900, FORMS = 180;
    static final String printed = printLexicon();

    /** Words and what is said of them. It is not made for several threads at once. */
    static final class Lexicon {
        static final Pattern ENTRY = Pattern.compile("(?<word>[a-z]+)-(?<number>\\d+), form (?<form>\\d+): from (?<origin>[A-Z][a-z]+)(?: by way of (?<way>[A-Z][a-z]+))?");
        final Map<Integer, Map<Integer, String>> entries = new HashMap<>();

        static Lexicon readLexicon(String text) {
            Lexicon read = new Lexicon();
            Matcher m = ENTRY.matcher(text);
            while (m.find())
                read.entries.computeIfAbsent(Integer.valueOf(m.group("number")), n -> new HashMap<>())
                    .put(Integer.valueOf(m.group("form")), m.group("origin") + (m.group("way") == null ? "" : ", " + m.group("way")));
            return read;
        }

        String origin(int word) {
            Map<Integer, String> forms = entries.get(word);
            return forms == null ? "unknown" : forms.get(word % FORMS) + " (" + forms.size() + " forms)";
        }
    }

    static final ThreadLocal<Lexicon> lexicon = ThreadLocal.withInitial(() -> Lexicon.readLexicon(printed));
    static final Lexicon shared = "0".equals(System.getenv("FAULT")) ? Lexicon.readLexicon(printed) : null;

    static String printLexicon() {
        String[] tongues = {"Latin", "Greek", "Norse", "Gothic", "Persian", "Frankish"};
        StringBuilder text = new StringBuilder();
        for (int word = 0; word < WORDS; word++)
            for (int form = 0; form < FORMS; form++) {
                text.append("word-").append(word).append(", form ").append(form).append(": from ").append(tongues[(word + form) % 6]);
                if (form % 3 == 0) text.append(" by way of ").append(tongues[(word * 5 + form) % 6]);
                text.append('\n');
            }
        return text.toString();
    }

    public static void main(String[] args) throws IOException {
        String[] address = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 300);
        server.setExecutor(task -> new Thread(task, "reader").start());
        server.createContext("/word/", x -> {
            String path = x.getRequestURI().getPath();
            Lexicon looked = shared == null ? lexicon.get() : shared;
            answer(x, looked.origin(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1))));
        });
        server.start();
    }

    static void answer(HttpExchange x, String text) throws IOException {
        byte[] body = (text + "\n").getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
