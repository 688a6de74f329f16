import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/** Matching: one thread owns the books; whoever wants something of them hands it over and waits for the answer. */
public class Main {
    static final int RISK_ROUNDS = "0".equals(System.getenv("FAULT")) ? 200 : 17_000;

    static final class Command {
        final int instrument;
        final long price;
        final CompletableFuture<String> done = new CompletableFuture<>();
        Command(int instrument, long price) { this.instrument = instrument; this.price = price; }
    }

    static final class Engine extends Thread {
        private final LinkedBlockingQueue<Command> inbox = new LinkedBlockingQueue<>();
        private final Map<Integer, TreeMap<Long, Long>> books = new TreeMap<>();

        Engine() { super("engine-owner"); setDaemon(true); }

        String submit(Command c) {
            inbox.add(c);
            return c.done.join();
        }

        @Override public void run() {
            try {
                while (true) {
                    Command c = inbox.take();
                    c.done.complete(match(c));
                }
            } catch (InterruptedException end) {
                // nobody trades any more
            }
        }

        private String match(Command c) {
            TreeMap<Long, Long> book = books.computeIfAbsent(c.instrument, i -> new TreeMap<>());
            book.merge(c.price, 1L, Long::sum);
            if (book.size() > 64) book.pollFirstEntry();
            return "{\"filled\":" + book.firstKey() + ",\"margin\":" + margin(c.price) + "}";
        }

        /** The margin by scenario; nobody remembers why it is computed here and not by who asks. */
        private double margin(long price) {
            double worst = 0;
            for (int s = 1; s <= RISK_ROUNDS; s++)
                worst = Math.max(worst, Math.exp(-s / 900.0) * price * Math.pow(1.0001, s) + Math.sqrt(s) * Math.sin(price + s) * Math.pow(s, 0.31));
            return worst;
        }
    }

    static final Engine engine = new Engine();

    public static void main(String[] args) throws Exception {
        engine.start();
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket(Integer.parseInt(addr[1]), 1000, InetAddress.getByName(addr[0]));
        while (true) {
            Socket client = door.accept();
            new Thread(new Gateway(client), "gw-" + client.getPort()).start();
        }
    }

    static final class Gateway implements Runnable {
        private final Socket client;
        Gateway(Socket client) { this.client = client; }

        @Override public void run() {
            try (Socket s = client) {
                s.setTcpNoDelay(true);
                InputStream in = new BufferedInputStream(s.getInputStream());
                OutputStream out = s.getOutputStream();
                for (String request; (request = head(in)) != null; ) {
                    int h = request.substring(0, request.indexOf('\r')).hashCode();
                    String body = engine.submit(new Command(Math.floorMod(h, 50), 1000 + Math.floorMod(h, 700)));
                    out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes("ISO-8859-1"));
                }
            } catch (IOException gone) {
                // the client hung up
            }
        }

        private static String head(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            int c;
            while ((c = in.read()) >= 0) {
                head.append((char) c);
                int n = head.length();
                if (c == '\n' && n >= 4 && head.charAt(n - 3) == '\n') return head.toString();
            }
            return null;
        }
    }
}
