import java.io.File;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

// Does a little of everything that a flight recording tells.
public class App {
    static final Object shelf = new Object();
    static final ReentrantLock till = new ReentrantLock();
    static final List<byte[]> kept = new ArrayList<>();
    static volatile Object sink;
    static volatile int sum;

    static void stock() throws Exception { synchronized (shelf) { Thread.sleep(25); } }

    static void pay() throws Exception {
        till.lock();
        try { Thread.sleep(22); } finally { till.unlock(); }
    }

    static void count(int n) {
        int x = 0;
        for (int i = 0; i < n; i++) x += Integer.toString(i).hashCode();
        sum = x;
    }

    static void fill() {
        byte[][] all = new byte[100][];
        for (int i = 0; i < all.length; i++) all[i] = new byte[20_000];
        sink = all;
        synchronized (kept) { kept.add(new byte[1000]); }
    }

    static void fail() {
        try { throw new IllegalStateException("käse ☃"); } catch (IllegalStateException e) { sink = e; }
    }

    static void ask(ServerSocket at) throws Exception {
        try (Socket s = new Socket(at.getInetAddress(), at.getLocalPort())) {
            s.getOutputStream().write(1);
            s.getInputStream().read();
        }
    }

    static void save() throws Exception {
        File f = File.createTempFile("app", ".tmp");
        try (RandomAccessFile r = new RandomAccessFile(f, "rw")) {
            r.write(new byte[1 << 20]);
            r.getFD().sync();
        }
        f.delete();
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + 1_500_000_000L;
        ServerSocket at = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread slow = new Thread(() -> {
            try {
                while (true) try (Socket s = at.accept()) {
                    s.getInputStream().read();
                    Thread.sleep(30);
                    s.getOutputStream().write(1);
                }
            } catch (Exception e) { /* the end */ }
        }, "slow");
        slow.setDaemon(true);
        slow.start();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int n = i;
            Thread t = new Thread(() -> {
                try {
                    for (int k = 0; System.nanoTime() < until; k++) {
                        stock();
                        pay();
                        count(200_000);
                        fill();
                        fail();
                        if (n == 0) ask(at);
                        if (n == 1 && k % 5 == 0) save();
                        synchronized (at) { at.wait(21); }
                    }
                } catch (Exception e) { throw new RuntimeException(e); }
            }, "http-ü-" + i);
            t.start();
            all.add(t);
        }
        System.gc();
        for (Thread t : all) t.join();
    }
}
