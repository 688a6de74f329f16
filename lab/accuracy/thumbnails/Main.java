import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingDeque;

/** Thumbnails: the pixels come from a store, and two workers, as many as there are CPUs, fetch them. */
public class Main {
    static class Job {
        final String picture;
        final CountDownLatch ready = new CountDownLatch(1);
        volatile byte[] thumbnail;
        Job(String picture) { this.picture = picture; }
    }

    static final BlockingQueue<Job> jobs = new LinkedBlockingDeque<>();

    public static void main(String[] args) throws Exception {
        int workers = "0".equals(System.getenv("FAULT")) ? 16 : Runtime.getRuntime().availableProcessors();
        for (int i = 1; i <= Math.max(2, workers); i++) {
            Thread worker = new Thread(new Worker(), "thumb-" + i);
            worker.setDaemon(true);
            worker.start();
            if (i == 2 && workers < 16) break;
        }
        InetSocketAddress at = at("ADDR");
        ServerSocket listener = new ServerSocket(at.getPort(), 800, at.getAddress());
        for (;;) {
            Socket client = listener.accept();
            new Thread(() -> http(client)).start();
        }
    }

    static InetSocketAddress at(String name) throws IOException {
        String value = System.getenv(name);
        int colon = value.lastIndexOf(':');
        return new InetSocketAddress(InetAddress.getByName(value.substring(0, colon)), Integer.parseInt(value.substring(colon + 1)));
    }

    static class Worker implements Runnable {
        @Override public void run() {
            try (Socket store = new Socket()) {
                store.connect(at("ADDR_STORE"));
                store.setTcpNoDelay(true);
                InputStream in = store.getInputStream();
                while (true) {
                    Job job = jobs.take();
                    store.getOutputStream().write((job.picture + "\n").getBytes("US-ASCII"));
                    byte[] pixels = in.readNBytes(4096);
                    job.thumbnail = shrink(pixels);
                    job.ready.countDown();
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException("worker ends", e);
            }
        }
    }

    static byte[] shrink(byte[] pixels) {
        byte[] small = new byte[pixels.length / 16];
        for (int i = 0; i < small.length; i++) {
            int sum = 0;
            for (int j = 0; j < 16; j++) sum += pixels[i * 16 + j] & 0xff;
            small[i] = (byte) (sum >> 4);
        }
        return small;
    }

    static void http(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), "US-ASCII"));
            OutputStream out = client.getOutputStream();
            String line;
            while ((line = in.readLine()) != null) {
                String[] words = line.split(" ");
                while (!in.readLine().isEmpty()) continue;
                Job job = new Job(words[1]);
                jobs.put(job);
                job.ready.await();
                byte[] head = ("HTTP/1.1 200 OK\r\nContent-Type: image/raw\r\nContent-Length: " + job.thumbnail.length + "\r\n\r\n").getBytes("US-ASCII");
                byte[] answer = new byte[head.length + job.thumbnail.length];
                System.arraycopy(head, 0, answer, 0, head.length);
                System.arraycopy(job.thumbnail, 0, answer, head.length, job.thumbnail.length);
                out.write(answer);
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            // closed
        }
    }
}
