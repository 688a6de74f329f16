using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace JuryFiles
{
    // A case as a tree of documents.
    public sealed class Document
    {
        public string Title { get; }
        public List<Document> Parts { get; } = new List<Document>();
        public Dictionary<string, string> Marks { get; } = new Dictionary<string, string>();

        public Document(string title) => Title = title;

        public int Count => 1 + Parts.Sum(part => part.Count);

        // A file of 36 folders with 36 papers each, some 700 kB of objects.
        public static Document File(int number)
        {
            var file = new Document("case " + number);
            for (int folder = 0; folder < 36; folder++)
            {
                var papers = new Document("folder " + folder);
                for (int paper = 0; paper < 36; paper++)
                {
                    var sheet = new Document("paper " + folder + "/" + paper);
                    sheet.Marks["by"] = "clerk " + (number * 31 + paper) % 97;
                    sheet.Marks["page"] = (number * 17 + folder * paper).ToString();
                    papers.Parts.Add(sheet);
                }
                file.Parts.Add(papers);
            }
            return file;
        }
    }

    // The court, which takes 350 ms to say who may see a file. Connections are kept.
    public sealed class Court
    {
        readonly string[] at = Environment.GetEnvironmentVariable("ADDR_COURT").Split(':');
        readonly ConcurrentQueue<(StreamReader, StreamWriter)> idle = new ConcurrentQueue<(StreamReader, StreamWriter)>();

        public async Task<string> Ask(string question)
        {
            if (!idle.TryDequeue(out var line))
            {
                var client = new TcpClient { NoDelay = true };
                await client.ConnectAsync(at[0], int.Parse(at[1]));
                line = (new StreamReader(client.GetStream()), new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true });
            }
            await line.Item2.WriteLineAsync(question);
            string answer = await line.Item1.ReadLineAsync() ?? throw new IOException("the court is closed");
            idle.Enqueue(line);
            return answer;
        }
    }

    // Puts a file together, then asks the court whether it may be shown: the file lives as
    // long as the court takes. With FAULT=0 the court is asked first.
    [ApiController]
    [Route("file")]
    public sealed class FileController : ControllerBase
    {
        static readonly bool askFirst = Environment.GetEnvironmentVariable("FAULT") == "0";

        readonly Court court;

        public FileController(Court court) => this.court = court;

        [HttpGet("{number:int}")]
        public async Task<string> Get(int number)
        {
            if (askFirst)
            {
                string allowed = await court.Ask("GET case" + number);
                return Summary(Document.File(number), allowed);
            }
            Document file = Document.File(number);
            string answer = await court.Ask("GET case" + number);
            return Summary(file, answer);
        }

        [HttpGet("{number:int}/title")]
        public string Title(int number) => new Document("case " + number).Title;

        static string Summary(Document file, string answer)
        {
            var text = new StringBuilder(file.Title).Append(", ").Append(file.Count).AppendLine(" documents");
            foreach (Document folder in file.Parts)
                text.Append(folder.Title).Append(": ").AppendLine(folder.Parts[folder.Parts.Count / 2].Marks["by"]);
            return text.Append(answer, 0, Math.Min(answer.Length, 20)).AppendLine().ToString();
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services =>
                {
                    services.AddSingleton<Court>();
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}
