import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Box office: seats of a show are counted through "desks", of which there are three; who gets none within two seconds is sent away. */
public class Main {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        DeskPool desks = new DeskPool("0".equals(System.getenv("FAULT")) ? 40 : 3);
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 400);
        server.createContext("/seats", x -> seats(x, desks));
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }

    static void seats(HttpExchange x, DeskPool desks) throws IOException {
        int status = 200;
        String said;
        try {
            DeskPool.Desk desk = desks.take(2, TimeUnit.SECONDS);
            if (desk == null) {
                status = 503;
                said = "all desks are busy";
            } else {
                try {
                    said = desk.count(x.getRequestURI().getPath());
                } finally {
                    desks.release(desk);
                }
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        x.sendResponseHeaders(status, said.length());
        x.getResponseBody().write(said.getBytes());
        x.close();
    }

    static class DeskPool {
        private final Semaphore free;
        private final Deque<Desk> desks = new ArrayDeque<>();

        DeskPool(int n) {
            free = new Semaphore(n, true);
            for (int i = 0; i < n; i++) desks.push(new Desk());
        }

        Desk take(long time, TimeUnit unit) throws InterruptedException {
            if (!free.tryAcquire(time, unit)) return null;
            synchronized (desks) {
                return desks.pop();
            }
        }

        void release(Desk desk) {
            synchronized (desks) {
                desks.push(desk);
            }
            free.release();
        }

        /** A session of the seat registry, which takes a round of its tape: 25 ms. */
        static class Desk {
            private int counted;

            String count(String show) throws InterruptedException {
                Thread.sleep(25);
                return "seats left for " + show + ": " + (500 - counted++ % 500);
            }
        }
    }
}
