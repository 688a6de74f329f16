using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace Darkroom
{
    // Prints of negatives. Enlargers are kept in a BlockingCollection: who wants one takes it,
    // uses it, and puts it back. The pool of threads was made large enough for that. With
    // FAULT=0 there are enough enlargers, too.
    public static class Program
    {
        public static void Main()
        {
            ThreadPool.SetMinThreads(40, 40);
            using var enlargers = new BlockingCollection<Enlarger>();
            int count = Environment.GetEnvironmentVariable("FAULT") == "0" ? 16 : 3;
            for (int i = 0; i < count; i++)
                enlargers.Add(new Enlarger(Environment.GetEnvironmentVariable("ADDR_LAMP")));

            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Run(context =>
                {
                    string print = Develop(enlargers, context.Request.Path.Value);
                    return context.Response.WriteAsync(print);
                }))
                .Build()
                .Run();
        }

        static string Develop(BlockingCollection<Enlarger> enlargers, string negative)
        {
            Enlarger enlarger = enlargers.Take();
            try
            {
                return enlarger.Expose(negative);
            }
            finally
            {
                enlargers.Add(enlarger);
            }
        }
    }

    public sealed class Enlarger
    {
        readonly TextReader lamp;
        readonly TextWriter to;

        public Enlarger(string address)
        {
            string[] at = address.Split(':');
            NetworkStream stream = new TcpClient(at[0], int.Parse(at[1])) { NoDelay = true }.GetStream();
            lamp = new StreamReader(stream);
            to = new StreamWriter(stream) { NewLine = "\n", AutoFlush = true };
        }

        public string Expose(string negative)
        {
            to.WriteLine("GET " + negative.Trim('/'));
            return lamp.ReadLine();
        }
    }
}
