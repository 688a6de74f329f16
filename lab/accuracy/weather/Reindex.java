import java.net.InetAddress;
import java.net.ServerSocket;

/** Somebody else's nightly job on the same host: six threads that compute and wait for nothing. */
public class Reindex {
    static volatile double sink;

    public static void main(String[] args) throws Exception {
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 5, InetAddress.getByName(addr[0]));
        if (!"0".equals(System.getenv("FAULT")))
            for (int i = 0; i < 6; i++) {
                Thread t = new Thread(Reindex::work, "reindex-" + i);
                t.setDaemon(true);
                t.start();
            }
        while (true) listener.accept().close();
    }

    static void work() {
        for (double d = 1; ; d += 0.25) sink = Math.atan(d) * Math.exp(-d % 7);
    }
}
