import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Readings of electricity meters, on Netty: the last one at once, or the next ones as they come, in an answer that lasts. */
public final class Main extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static double reading(int meter) {
        return 1000 + meter * 17.5 + (System.nanoTime() / 1_000_000_000L) % 1000;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
        String[] words = request.uri().split("/");
        boolean keep = HttpUtil.isKeepAlive(request);
        int meter = Integer.parseInt(words[2]);
        if (words.length > 3 && words[3].equals("next")) {
            feed(ctx, meter, Integer.parseInt(words[4]), keep);
            return;
        }
        byte[] text = ("{\"kwh\":" + reading(meter) + "}").getBytes(StandardCharsets.UTF_8);
        var answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(text));
        answer.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON).setInt(HttpHeaderNames.CONTENT_LENGTH, text.length);
        var sent = ctx.writeAndFlush(answer);
        if (!keep) {
            sent.addListener(ChannelFutureListener.CLOSE);
        }
    }

    private void feed(ChannelHandlerContext ctx, int meter, int left, boolean keep) {
        var head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        HttpUtil.setTransferEncodingChunked(head, true);
        ctx.writeAndFlush(head);
        next(ctx, meter, left, keep);
    }

    private void next(ChannelHandlerContext ctx, int meter, int left, boolean keep) {
        if (!ctx.channel().isActive()) {
            return;
        }
        if (left == 0) {
            var sent = ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
            if (!keep) {
                sent.addListener(ChannelFutureListener.CLOSE);
            }
            return;
        }
        ctx.writeAndFlush(new DefaultHttpContent(Unpooled.copiedBuffer(reading(meter) + "\n", StandardCharsets.US_ASCII)));
        ctx.executor().schedule(() -> next(ctx, meter, left - 1, keep), 200, TimeUnit.MILLISECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }

    public static void main(String[] args) throws Exception {
        String[] at = System.getenv("ADDR").split(":");
        new ServerBootstrap().group(new NioEventLoopGroup(1), new NioEventLoopGroup()).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Main());
                    }
                })
                .bind(new InetSocketAddress(at[0], Integer.parseInt(at[1]))).sync().channel().closeFuture().sync();
    }
}
