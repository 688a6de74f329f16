using System;
using System.Buffers;
using System.Collections.Generic;
using System.Linq;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace PosterPress
{
    // Sets posters in layers of pixels, each an array of 300 kB: large objects, so that full
    // collections come, and these mark the whole archive. With FAULT=0 layers are rented.
    public static class Program
    {
        const int Width = 600, Height = 500, Layers = 8;

        static readonly bool Rents = Environment.GetEnvironmentVariable("FAULT") == "0";
        static readonly ArrayPool<byte> Presses = ArrayPool<byte>.Create(Width * Height, 64);
        static readonly Dictionary<string, List<string>> Archive = Enumerable.Range(0, 250_000)
            .ToDictionary(n => "poster " + n, n => new List<string> { "paper " + n, "ink " + n });

        public static void Main()
        {
            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.Run(context =>
                {
                    string name = context.Request.Path.Value.Trim('/').Replace('-', ' ');
                    string paper = Archive.TryGetValue(name, out var of) ? of[0] : "none";
                    return context.Response.WriteAsync(name + " on " + paper + ": " + Press(name));
                }))
                .Build()
                .Run();
        }

        static int Press(string name)
        {
            var layers = new byte[Layers][];
            for (int i = 0; i < Layers; i++)
                layers[i] = Rents ? Presses.Rent(Width * Height) : new byte[Width * Height];
            int ink = 0;
            for (int i = 0; i < Layers; i++)
                for (int at = i; at < Width * Height; at += 97)
                    ink += layers[i][at] = (byte)(name.Length + at);
            if (Rents)
                foreach (byte[] layer in layers)
                    Presses.Return(layer);
            return ink;
        }
    }
}
