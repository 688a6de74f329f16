using System;
using System.Buffers;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace BlueprintVault
{
    // What is drawn where: lines of blueprints, by their sheet.
    public sealed class Vault
    {
        public const int Sheets = 15_000;
        const int LinesPerSheet = 80;

        readonly Dictionary<int, List<Line>> sheets;

        public Vault()
        {
            var random = new Random(3);
            sheets = Enumerable.Range(0, Sheets).ToDictionary(sheet => sheet, sheet => Enumerable.Range(0, LinesPerSheet).Select(_ => new Line(random)).ToList());
        }

        public IReadOnlyList<Line> Lines(int sheet) => sheets[sheet % Sheets];
    }

    public sealed class Line
    {
        public readonly int Left, Top, Length;
        public readonly bool Upright;
        public readonly string Note;

        public Line(Random random)
        {
            Left = random.Next(1400);
            Top = random.Next(1400);
            Length = 20 + random.Next(380);
            Upright = random.Next(2) == 0;
            Note = "wall " + random.Next(10000);
        }
    }

    // Draws sheets: a layer for ink and one for paper, which are put together and coded by the
    // lengths of runs. Layers are large arrays that are made for each sheet; with FAULT=0 they
    // are rented.
    public sealed class Press
    {
        const int Side = 1800;

        readonly bool rent = Environment.GetEnvironmentVariable("FAULT") == "0";
        readonly ArrayPool<byte> layers = ArrayPool<byte>.Create(Side * Side, 24);

        byte[] Layer() => rent ? layers.Rent(Side * Side) : new byte[Side * Side];

        void Return(byte[] layer)
        {
            if (rent)
                layers.Return(layer);
        }

        public byte[] Draw(IReadOnlyList<Line> lines)
        {
            byte[] ink = Layer(), paper = Layer(), coded = Layer();
            if (rent)
                Array.Clear(ink, 0, Side * Side);
            paper.AsSpan(0, Side * Side).Fill(7);
            foreach (Line line in lines)
                for (int n = 0; n < line.Length; n++)
                {
                    int x = line.Left + (line.Upright ? 0 : n), y = line.Top + (line.Upright ? n : 0);
                    ink[y * Side + x] = 200;
                }
            int length = Code(ink, paper, coded);
            byte[] sheet = coded.AsSpan(0, length).ToArray();
            Return(ink);
            Return(paper);
            Return(coded);
            return sheet;
        }

        // Only every eighth row is coded: a preview.
        static int Code(byte[] ink, byte[] paper, byte[] to)
        {
            int length = 0;
            for (int y = 0; y < Side; y += 8)
            {
                int run = 0;
                for (int x = 1; x < Side; x++, run++)
                {
                    int at = y * Side + x;
                    if (ink[at] == ink[at - 1] && run < 255)
                        continue;
                    to[length++] = (byte)(ink[at] | paper[at]);
                    to[length++] = (byte)run;
                    run = 0;
                }
            }
            return length;
        }
    }

    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services.AddSingleton(new Vault()).AddSingleton<Press>())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(Routes))
            .Build()
            .RunAsync();

        static void Routes(IApplicationBuilder app)
        {
            var vault = app.ApplicationServices.GetRequiredService<Vault>();
            var press = app.ApplicationServices.GetRequiredService<Press>();
            app.UseRouting().UseEndpoints(routes => routes.MapGet("/sheet/{sheet:int}", async context =>
            {
                byte[] drawn = press.Draw(vault.Lines(int.Parse((string)context.Request.RouteValues["sheet"])));
                context.Response.ContentType = "application/octet-stream";
                await context.Response.Body.WriteAsync(drawn, 0, drawn.Length);
            }));
        }
    }
}
