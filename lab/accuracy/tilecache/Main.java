import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Map tiles: a cache of rendered tiles by recency, and the sketches of the last ones for their neighbours. */
public class Main {
    static final int SKETCHES = Integer.getInteger("sketches", 900);

    static final class TileCache extends LinkedHashMap<Long, byte[][]> {
        final int bound;
        TileCache(int bound) { super(1024, 0.75f, true); this.bound = bound; }
        @Override protected boolean removeEldestEntry(Map.Entry<Long, byte[][]> eldest) { return size() > bound; }
    }

    static final TileCache tiles = new TileCache(2600);
    static final ArrayDeque<int[][]> sketches = new ArrayDeque<>();

    public static void main(String[] args) throws Exception {
        String addr = System.getenv("ADDR");
        int colon = addr.lastIndexOf(':');
        for (long i = 0; i < 2600; i++) tiles.put(i, new byte[100][400]);
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr.substring(colon + 1)), 1000, InetAddress.getByName(addr.substring(0, colon)));
        for (int n = 0; ; n++) {
            Socket client = listener.accept();
            client.setTcpNoDelay(true);
            Thread t = new Thread(() -> serve(client), "tile-conn-" + n);
            t.setDaemon(true);
            t.start();
        }
    }

    static void serve(Socket client) {
        try (Socket s = client; BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream(), StandardCharsets.ISO_8859_1))) {
            OutputStream out = s.getOutputStream();
            for (String first; (first = in.readLine()) != null; ) {
                for (String header; (header = in.readLine()) != null && !header.isEmpty(); ) { }
                byte[] tile = tile(Math.abs((long) first.hashCode()) % 2600);
                out.write(("HTTP/1.1 200 OK\r\nContent-Type: image/x-tile\r\nContent-Length: " + tile.length + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
                out.write(tile);
                out.flush();
            }
        } catch (IOException gone) {
            // the client went away
        }
    }

    static byte[] tile(long id) {
        int[][] sketch = render(id);
        for (int zoom = 0; zoom < 6; zoom++) keep(zoom == 0 ? sketch : render(id << zoom));
        byte[][] tile;
        synchronized (tiles) {
            tile = tiles.get(id);
        }
        byte[] answer = new byte[4000];
        for (int i = 0; i < answer.length; i++) answer[i] = (byte) (tile[i % 100][i / 100] ^ sketch[i % 60][i % 200]);
        return answer;
    }

    /** A neighbour's sketch continues its roads. */
    static void keep(int[][] sketch) {
        synchronized (sketches) {
            sketches.add(sketch);
            if (sketches.size() > SKETCHES) sketches.poll();
        }
    }

    static int[][] render(long id) {
        int[][] sketch = new int[60][];
        for (int y = 0; y < 60; y++) {
            int[] row = new int[200];
            int seed = (int) id + y + ThreadLocalRandom.current().nextInt();
            for (int x = 0; x < 200; x++) row[x] = seed = seed * 1664525 + 1013904223;
            sketch[y] = row;
        }
        return sketch;
    }
}
