package depot;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;

/** Answers requests, each by a task of an executor. */
class Routes extends SimpleChannelInboundHandler<FullHttpRequest> {
    private final Parcels parcels;
    private final Executor executor;

    Routes(Parcels parcels, Executor executor) {
        this.parcels = parcels;
        this.executor = executor;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        String path = request.uri();
        executor.execute(() -> context.writeAndFlush(answer(path)));
    }

    private FullHttpResponse answer(String path) {
        int last = path.lastIndexOf('/');
        String of = path.substring(last + 1);
        try {
            switch (path.substring(0, last)) {
                case "/places":
                    return text(HttpResponseStatus.OK, parcels.place(of));
                case "/duties":
                    return text(HttpResponseStatus.OK, parcels.duty(of));
                case "/counts":
                    return text(HttpResponseStatus.OK, parcels.count(of));
                default:
                    return text(HttpResponseStatus.NOT_FOUND, path);
            }
        } catch (IOException | ExecutionException e) {
            return text(HttpResponseStatus.BAD_GATEWAY, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return text(HttpResponseStatus.SERVICE_UNAVAILABLE, "the depot closes");
        }
    }

    private static FullHttpResponse text(HttpResponseStatus status, String said) {
        ByteBuf body = Unpooled.copiedBuffer(String.valueOf(said), StandardCharsets.UTF_8);
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
        return response;
    }
}
