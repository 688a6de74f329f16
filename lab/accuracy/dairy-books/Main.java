import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** The books of a dairy: how much milk each cow gave. */
public class Main {
    static final int COWS = 700, DAYS = 365;
    static final short[][] litres = new short[COWS][DAYS];
    static final LongAdder carried = new LongAdder();
    static final Object ladle = new Object();

    /** Carries milk from the barn; there is one ladle. */
    static void carry() {
        try {
            while (true) {
                synchronized (ladle) {
                    Thread.sleep(4);
                    carried.add(5);
                }
                Thread.sleep(30);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void startDaemon(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws IOException {
        for (int cow = 0; cow < COWS; cow++)
            for (int day = 0; day < DAYS; day++) litres[cow][day] = (short) (12 + (cow * 31 + day * 7) % 19);
        for (int i = 0; i < 60; i++) startDaemon("carrier-" + i, Main::carry);
        CountDownLatch evening = new CountDownLatch(1);
        for (int i = 0; i < 100; i++)
            startDaemon("milker-" + i, () -> {
                try {
                    evening.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        ScheduledExecutorService bookKeeper = Executors.newSingleThreadScheduledExecutor();
        bookKeeper.scheduleWithFixedDelay(System::gc, 4, 4, TimeUnit.SECONDS);
        String[] address = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 300);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/cow/", x -> {
            String path = x.getRequestURI().getPath();
            byte[] body = page(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)) % COWS).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.start();
    }

    static String page(int cow) {
        short[] sorted = litres[cow].clone();
        Arrays.sort(sorted);
        StringBuilder text = new StringBuilder("cow " + cow + ", mostly " + sorted[DAYS / 2] + " litres:");
        for (int day = 0; day < DAYS; day++) text.append(' ').append(litres[cow][day]);
        return text.append('\n').toString();
    }
}
