import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The store of pictures: 12 ms for each, as ever. */
public class Store {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 100, InetAddress.getByName(addr[0]));
        while (true) {
            Socket client = listener.accept();
            new Thread(() -> {
                try (client) {
                    client.setTcpNoDelay(true);
                    BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
                    byte[] pixels = new byte[4096];
                    for (String name; (name = in.readLine()) != null; ) {
                        Thread.sleep(12);
                        pixels[0] = (byte) name.length();
                        client.getOutputStream().write(pixels);
                    }
                } catch (IOException | InterruptedException e) {
                    // closed
                }
            }).start();
        }
    }
}
