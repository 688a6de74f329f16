using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ChessArchive
{
    // Games of chess, which the archive's line tells. The protocol is old and synchronous; its
    // callers have known that from the beginning, and the pool was given threads for it.
    public sealed class Archive
    {
        readonly string host;
        readonly int port;
        readonly ConcurrentBag<(StreamReader, StreamWriter)> lines = new ConcurrentBag<(StreamReader, StreamWriter)>();

        public Archive(string address)
        {
            string[] at = address.Split(':');
            (host, port) = (at[0], int.Parse(at[1]));
        }

        public string Game(string id)
        {
            if (!lines.TryTake(out var line))
            {
                NetworkStream stream = new TcpClient(host, port) { NoDelay = true }.GetStream();
                line = (new StreamReader(stream), new StreamWriter(stream) { NewLine = "\n", AutoFlush = true });
            }
            line.Item2.WriteLine("GET game-" + id);
            string moves = line.Item1.ReadLine();
            lines.Add(line);
            return moves;
        }
    }

    public static class Program
    {
        public static void Main(string[] args)
        {
            ThreadPool.SetMinThreads(80, 80);
            var archive = new Archive(Environment.GetEnvironmentVariable("ADDR_ARCHIVE"));
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .Configure(app => app.UseRouting().UseEndpoints(routes =>
                        routes.MapGet("/game/{id}", context => context.Response.WriteAsync(archive.Game((string)context.Request.RouteValues["id"]))))))
                .Build()
                .Run();
        }
    }
}
