import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Positions of buses on Netty: the handler waits for the radio on the event loop, of which there is one. */
public class Main {
    public static void main(String[] args) throws Exception {
        String[] addr = System.getenv("ADDR").split(":");
        EventExecutorGroup own = "0".equals(System.getenv("FAULT")) ? new DefaultEventExecutorGroup(32) : null;
        NioEventLoopGroup boss = new NioEventLoopGroup(1), loop = new NioEventLoopGroup(1);
        new ServerBootstrap().group(boss, loop).channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536)).addLast(own, new Positions());
                }
            }).bind(addr[0], Integer.parseInt(addr[1])).sync().channel().closeFuture().sync();
    }

    static class Radio {
        private static final ScheduledExecutorService air = Executors.newScheduledThreadPool(2);

        /** A bus answers after 6 ms. */
        static String locate(String bus) throws InterruptedException {
            CountDownLatch heard = new CountDownLatch(1);
            air.schedule(heard::countDown, 6, TimeUnit.MILLISECONDS);
            heard.await();
            return bus + " at km " + Math.floorMod(bus.hashCode(), 300);
        }
    }

    static class Positions extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws Exception {
            byte[] text = Radio.locate(request.uri()).getBytes(StandardCharsets.UTF_8);
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(text));
            response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, text.length);
            context.writeAndFlush(response);
        }

        @Override public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
