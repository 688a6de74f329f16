import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Runs the program of a test: it announces itself, and ends with its standard input. */
public final class Host {
    private static final BlockingQueue<String> LINES = new LinkedBlockingQueue<>();

    private Host() {}

    public static void main(String[] args) throws Exception {
        Thread reader = new Thread(Host::read, "standard input");
        reader.setDaemon(true);
        reader.start();
        say("{\"pid\":" + ProcessHandle.current().pid() + "}");
        App.main(args);
        Thread.currentThread().join(); // the test says when it is over
    }

    /** Tells the test one line. */
    public static void say(String line) {
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }

    /** Waits for the next line the test sends. */
    public static String next() throws InterruptedException {
        return LINES.take();
    }

    private static void read() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line; (line = in.readLine()) != null; ) {
                LINES.add(line);
            }
        } catch (java.io.IOException e) {
            System.err.println(e);
        }
        System.exit(0);
    }
}
