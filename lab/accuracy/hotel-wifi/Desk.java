import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Says over UDP who may use the network: one question after the other, 7 ms each. */
public class Desk {
    public static void main(String[] args) throws IOException, InterruptedException {
        String[] at = System.getenv("ADDR").split(":");
        InetSocketAddress here = new InetSocketAddress(at[0], Integer.parseInt(at[1]));
        DatagramSocket socket = new DatagramSocket(null);
        socket.setReceiveBufferSize(24_000);
        socket.bind(here);
        ServerSocket open = new ServerSocket(here.getPort(), 5, InetAddress.getByName(at[0])); // says that it has started
        while (!open.isClosed()) {
            DatagramPacket question = new DatagramPacket(new byte[256], 256);
            socket.receive(question);
            Thread.sleep(7);
            byte[] answer = (new String(question.getData(), 0, question.getLength()) + " may").getBytes();
            try {
                socket.send(new DatagramPacket(answer, answer.length, question.getSocketAddress()));
            } catch (IOException e) {
                // nobody waits any longer
            }
        }
    }
}
