import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Land survey: heights between points on request, while a thread sums up the whole model for the statistics. */
public class Main {
    static final int[] model = new int[1 << 25];
    static volatile long checksum;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < model.length; i++) model[i] = i * 31;
        if (!"0".equals(System.getenv("FAULT"))) {
            Thread statistics = new Thread(Main::statistics, "statistics");
            statistics.setDaemon(true);
            statistics.start();
        }
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 500, InetAddress.getByName(addr[0]));
        while (true) {
            Socket s = listener.accept();
            Thread t = new Thread(() -> converse(s));
            t.setDaemon(true);
            t.start();
        }
    }

    static void statistics() {
        try {
            while (true) {
                checksum += variance(model);
                Thread.sleep(80);
            }
        } catch (InterruptedException e) {
            // over
        }
    }

    /** A loop that is counted, and so has no safepoint in it. */
    static long variance(int[] heights) {
        long sum = 0, odd = 1;
        for (int i = 0; i < heights.length; i++) {
            odd = odd * 31 + heights[i];
            sum ^= odd / (heights[i] | 1) + odd % (i | 3);
        }
        return sum;
    }

    static void converse(Socket socket) {
        try (Socket s = socket; BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream(), StandardCharsets.US_ASCII))) {
            s.setTcpNoDelay(true);
            OutputStream out = s.getOutputStream();
            for (String first; (first = in.readLine()) != null; ) {
                for (String h = in.readLine(); h != null && h.length() > 0; h = in.readLine()) { }
                String body = profile(first);
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            // gone
        }
    }

    static String profile(String between) {
        int from = (between.hashCode() & 0x7fffffff) % (model.length - 4000) + ThreadLocalRandom.current().nextInt(100);
        List<String> heights = new ArrayList<>();
        for (int i = 0; i < 1500; i++) heights.add(model[from + i] / 1000 + " m");
        return heights.get(0) + " to " + heights.get(heights.size() - 1);
    }
}
