import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Passes for a festival. Connections have threads of their own; what they ask for is done by the office. */
public class Main {
    static final String[] REGISTER = System.getenv("ADDR_REGISTER").split(":");

    /** A line to the register of guests. Each thread of the office keeps one. */
    static final class Line {
        final BufferedReader answers;
        final PrintStream asks;

        Line() {
            try {
                Socket socket = new Socket(REGISTER[0], Integer.parseInt(REGISTER[1]));
                socket.setTcpNoDelay(true);
                answers = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                asks = new PrintStream(socket.getOutputStream(), true);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        String ask(String what) throws IOException {
            asks.print(what + "\n");
            asks.flush();
            return answers.readLine();
        }
    }

    static final ThreadLocal<Line> line = ThreadLocal.withInitial(Line::new);
    static final ExecutorService office = Executors.newFixedThreadPool(6, work -> new Thread(work, "office"));
    static final ExecutorService checkers = "0".equals(System.getenv("FAULT"))
            ? Executors.newFixedThreadPool(12, work -> new Thread(work, "checker")) : office;

    public static void main(String[] args) throws IOException {
        String[] address = System.getenv("ADDR").split(":");
        try (ServerSocket door = new ServerSocket(Integer.parseInt(address[1]), 256, InetAddress.getByName(address[0]))) {
            while (true) {
                Socket guest = door.accept();
                new Thread(() -> talk(guest), "door").start();
            }
        }
    }

    static void talk(Socket guest) {
        try (guest) {
            guest.setTcpNoDelay(true);
            var in = new BufferedReader(new InputStreamReader(guest.getInputStream()));
            OutputStream out = guest.getOutputStream();
            for (String first; (first = in.readLine()) != null; ) {
                for (String header = first; header != null && !header.isEmpty(); ) header = in.readLine();
                String path = first.split(" ")[1];
                String body = office.submit(() -> issue(path.substring(path.lastIndexOf('/') + 1))).get() + "\n";
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes());
            }
        } catch (IOException | ExecutionException | InterruptedException gone) {
            // the guest has left
        }
    }

    /** Issues a pass once the guest has paid and is not on the black list. */
    static String issue(String guest) throws Exception {
        Callable<String> paid = () -> line.get().ask("GET paid:" + guest), banned = () -> line.get().ask("GET banned:" + guest);
        Future<String> first = checkers.submit(paid), second = checkers.submit(banned);
        return "pass for " + guest + ": " + (await(first, paid) + await(second, banned)).hashCode();
    }

    /** Waits for a check, or does it itself when nobody gets round to it. */
    static String await(Future<String> check, Callable<String> same) throws Exception {
        try {
            return check.get(60, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            check.cancel(false);
            return same.call();
        }
    }
}
