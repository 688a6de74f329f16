import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/** Boarding at a ferry: cars are checked one at a time, on virtual threads, with the lock of the gate held while the port answers. */
public class Main {
    static final int GATES = "0".equals(System.getenv("FAULT")) ? 64 : 1;

    static final class Gate {
        private final ReentrantLock barrier = new ReentrantLock();
        private final Socket port;
        private final BufferedReader answers;
        private int aboard;

        Gate() throws IOException {
            String[] at = System.getenv("ADDR_PORT").split(":");
            port = new Socket(at[0], Integer.parseInt(at[1]));
            port.setTcpNoDelay(true);
            answers = new BufferedReader(new InputStreamReader(port.getInputStream()));
        }

        String board(String car) throws IOException {
            barrier.lock();
            try {
                port.getOutputStream().write((car + "\n").getBytes());
                return answers.readLine() + ", number " + ++aboard;
            } finally {
                barrier.unlock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Gate[] gates = new Gate[GATES];
        for (int i = 0; i < GATES; i++) gates[i] = new Gate();
        ExecutorService drivers = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket quay = new ServerSocket(Integer.parseInt(addr[1]), 800, InetAddress.getByName(addr[0]));
        while (true) {
            Socket driver = quay.accept();
            drivers.execute(() -> serve(driver, gates));
        }
    }

    static void serve(Socket driver, Gate[] gates) {
        try (driver) {
            driver.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(driver.getInputStream()));
            OutputStream out = driver.getOutputStream();
            for (String line; (line = in.readLine()) != null; ) {
                while (!in.readLine().isEmpty()) { }
                String car = line.split(" ")[1];
                String body = gates[Math.floorMod(car.hashCode(), gates.length)].board(car);
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes());
            }
        } catch (IOException e) {
            // drove away
        }
    }
}
