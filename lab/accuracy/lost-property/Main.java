import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Things that were left in trains, and where they are kept. */
public class Main {
    static final int THINGS = 5000, STATIONS = 30;
    static final ConcurrentHashMap<Integer, String> shelves = new ConcurrentHashMap<>();

    static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Labels what a train has handed in. */
    static void label(int number, String text) {
        int shelf;
        try {
            shelf = Integer.parseInt(text);
        } catch (NumberFormatException noNumber) {
            shelf = text.length();
        }
        shelves.put(number % THINGS, "thing " + number + " on shelf " + shelf % 90);
    }

    /** Waits for the owner of what is in a cupboard, in vain. */
    static void openCupboard(int cupboard) {
        new CompletableFuture<Void>().orTimeout(500 + cupboard * 20, TimeUnit.MILLISECONDS).whenComplete((none, late) -> openCupboard(cupboard));
    }

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < THINGS; i++) label(i, "" + i % 90);
        for (int i = 0; i < 40; i++) openCupboard(i);
        ExecutorService clerks = Executors.newFixedThreadPool(2, daemons("clerk"));
        ScheduledExecutorService trains = Executors.newSingleThreadScheduledExecutor(daemons("trains"));
        trains.scheduleAtFixedRate(() -> {
            for (int i = 0; i < 4000; i++) {
                int number = i;
                clerks.execute(() -> label(number, number % 40 == 0 ? "upper left" : "" + number % 90));
            }
        }, 3, 3, TimeUnit.SECONDS);
        ThreadFactory desk = daemons("desk");
        String[] address = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket();
        door.bind(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 256);
        while (true) {
            Socket visitor = door.accept();
            visitor.setTcpNoDelay(true);
            desk.newThread(() -> talk(visitor)).start();
        }
    }

    static void talk(Socket visitor) {
        try (visitor) {
            var in = new BufferedReader(new InputStreamReader(visitor.getInputStream(), StandardCharsets.ISO_8859_1));
            for (String first; (first = in.readLine()) != null; ) {
                for (String header; (header = in.readLine()) != null && !header.isEmpty(); ) continue;
                String path = first.split(" ")[1];
                String body = path.equals("/health") ? checkHealth() : shelves.getOrDefault(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)), "not found") + "\n";
                visitor.getOutputStream().write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1));
            }
        } catch (IOException gone) {
            // the visitor has left
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks each station whether its office is open. */
    static String checkHealth() throws InterruptedException {
        for (int station = 0; station < STATIONS; station++) Thread.sleep(40);
        return STATIONS + " offices are open\n";
    }
}
