import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

/** Orchid house: waters beds by a pump that answers over the network. FAULT=0 guards a bed with a ReentrantLock. */
public class Main {
    /** A connection to the pump. */
    static final class Pump {
        final Socket socket;
        final BufferedReader said;

        Pump(String[] at) throws IOException {
            socket = new Socket(at[0], Integer.parseInt(at[1]));
            socket.setTcpNoDelay(true);
            said = new BufferedReader(new InputStreamReader(socket.getInputStream()));
        }

        String ask(String what) throws IOException {
            socket.getOutputStream().write((what + "\n").getBytes());
            return said.readLine();
        }
    }

    /** A bed is watered by one gardener at a time. */
    static class Bed {
        int litres;

        synchronized int water(Pump pump) throws IOException {
            if (!"OK".equals(pump.ask("POUR 2"))) throw new IOException("the pump does not pour");
            return litres += 2;
        }
    }

    static final class LockedBed extends Bed {
        final ReentrantLock turn = new ReentrantLock();

        @Override
        int water(Pump pump) throws IOException {
            turn.lock();
            try {
                if (!"OK".equals(pump.ask("POUR 2"))) throw new IOException("the pump does not pour");
                return litres += 2;
            } finally {
                turn.unlock();
            }
        }
    }

    static final boolean fault = !"0".equals(System.getenv("FAULT"));
    static final ConcurrentHashMap<String, Bed> beds = new ConcurrentHashMap<>();
    static final LinkedBlockingQueue<Pump> pumps = new LinkedBlockingQueue<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 60; i++) pumps.add(new Pump(System.getenv("ADDR_PUMP").split(":")));
        for (int i = 0; i < 200; i++) beds.put("bed-" + i, fault ? new Bed() : new LockedBed());
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/water/", x -> {
            Bed bed = beds.get(x.getRequestURI().getPath().substring(7));
            try {
                Pump pump = pumps.take();
                try {
                    answer(x, bed.water(pump) + " litres");
                } finally {
                    pumps.add(pump);
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        });
        server.createContext("/bloom/", x -> answer(x, x.getRequestURI().getPath().length() % 3 == 0 ? "white" : "purple"));
        server.setExecutor((Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        server.start();
    }

    static void answer(HttpExchange x, String text) throws IOException {
        byte[] body = text.getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
