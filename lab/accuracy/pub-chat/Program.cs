using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using System.Net.WebSockets;

namespace PubChat
{
    // A pub where people are silent most of the time: each is a WebSocket that stays for good.
    // What somebody says is heard at their table. /tables lists who sits where.
    public static class Program
    {
        static readonly ConcurrentDictionary<string, ConcurrentDictionary<WebSocket, SemaphoreSlim>> Tables =
            new ConcurrentDictionary<string, ConcurrentDictionary<WebSocket, SemaphoreSlim>>();

        public static void Main() => new WebHostBuilder()
            .UseKestrel()
            .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
            .UseShutdownTimeout(TimeSpan.FromSeconds(1))
            .Configure(app => app.UseWebSockets().Run(context => context.WebSockets.IsWebSocketRequest ? Sit(context) : List(context)))
            .Build()
            .Run();

        static Task List(HttpContext context) =>
            context.Response.WriteAsync(string.Join("\n", Tables.Select(table => table.Key + ": " + table.Value.Count)));

        static async Task Sit(HttpContext context)
        {
            using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
            var table = Tables.GetOrAdd(context.Request.Path, _ => new ConcurrentDictionary<WebSocket, SemaphoreSlim>());
            table[socket] = new SemaphoreSlim(1); // one sends at a time
            var said = new byte[1024];
            try
            {
                for (;;)
                {
                    WebSocketReceiveResult heard = await socket.ReceiveAsync(new ArraySegment<byte>(said), context.RequestAborted);
                    if (heard.MessageType == WebSocketMessageType.Close)
                        return;
                    await Task.WhenAll(table.Select(one => Tell(one.Key, one.Value, new ArraySegment<byte>(said, 0, heard.Count))));
                }
            }
            catch (Exception gone) when (gone is WebSocketException || gone is OperationCanceledException)
            {
            }
            finally
            {
                table.TryRemove(socket, out _);
            }
        }

        static async Task Tell(WebSocket to, SemaphoreSlim turn, ArraySegment<byte> what)
        {
            await turn.WaitAsync();
            try
            {
                if (to.State == WebSocketState.Open)
                    await to.SendAsync(what, WebSocketMessageType.Text, true, CancellationToken.None);
            }
            finally
            {
                turn.Release();
            }
        }
    }
}
