import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/** Orders of ropes. Each is a lookup; every five seconds the day's orders are sealed, on both CPUs, for the auditors. */
public class Main {
    static final int STRANDS = 50_000;
    static final String[] ropes = IntStream.range(0, STRANDS).mapToObj(i -> "rope-" + i + "-hemp-" + i % 40 + "mm").toArray(String[]::new);
    static volatile byte[] seal = {};

    public static void main(String[] args) throws IOException {
        new Timer("auditor", true).schedule(new TimerTask() {
            @Override public void run() {
                IntStream.range(0, 4).parallel().forEach(Main::sealQuarter);
            }
        }, 500, 5_000);
        var address = System.getenv("ADDR").split(":");
        var server = HttpServer.create(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 100);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/", exchange -> {
            int n = Integer.parseInt(exchange.getRequestURI().getPath().replaceAll("\\D", ""));
            byte[] body = (ropes[n % STRANDS] + " under seal of " + seal.length + " bytes\n").getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    static void sealQuarter(int quarter) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-512");
            for (int round = 0; round < 80; round++)
                for (int i = quarter; i < STRANDS; i += 4) sha.update(ropes[i].getBytes());
            seal = sha.digest();
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
