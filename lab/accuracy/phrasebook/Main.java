import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

/** A phrasebook for travellers: translations are kept, and those not met before are asked of a lexicon. */
public class Main {
    static final boolean GOOD_HASH = "0".equals(System.getenv("FAULT"));

    record Phrase(String language, String text) {
        @Override public int hashCode() {
            return GOOD_HASH ? Objects.hash(language, text) : language.hashCode();
        }
    }

    private final ConcurrentHashMap<Phrase, String> known = new ConcurrentHashMap<>();
    private final ThreadLocal<Line> lexicon = ThreadLocal.withInitial(Line::new);

    public static void main(String[] args) throws IOException {
        Main book = new Main();
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 400);
        server.createContext("/", book::answer);
        server.setExecutor(Executors.newFixedThreadPool(120));
        server.start();
    }

    void answer(HttpExchange x) throws IOException {
        byte[] body = translate(new Phrase("pt", x.getRequestURI().getPath())).getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }

    String translate(Phrase phrase) {
        if (known.size() > 250) {
            known.clear();
        }
        return known.computeIfAbsent(phrase, p -> lexicon.get().ask(p.text()));
    }

    /** A connection to the lexicon. */
    static final class Line {
        private final Socket socket;
        private final BufferedReader in;

        Line() {
            String[] at = System.getenv("ADDR_LEXICON").split(":");
            try {
                socket = new Socket(at[0], Integer.parseInt(at[1]));
                socket.setTcpNoDelay(true);
                in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        String ask(String text) {
            try {
                socket.getOutputStream().write((text + "\n").getBytes());
                return in.readLine();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
