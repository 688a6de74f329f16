using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Threading.Tasks;

namespace GalleryWalls
{
    // Tables of the gallery for one request. Its entities read what they refer to when it is
    // first asked for.
    public sealed class GalleryContext
    {
        readonly Connections connections;
        readonly Dictionary<int, Artist> artists = new Dictionary<int, Artist>();

        public GalleryContext(Connections connections) => this.connections = connections;

        // Exhibits of a room, with their artists if they are to be read with them.
        public async Task<List<Exhibit>> ExhibitsAsync(int room, bool includeArtists)
        {
            var connection = await connections.OpenAsync();
            string row = await connection.QueryAsync("GET room-" + room);
            var all = Enumerable.Range(0, 5).Select(n => new Exhibit(this, "exhibit " + (room + n * row.Length), room * 3 + n)).ToList();
            if (includeArtists)
                foreach (Exhibit exhibit in all)
                    artists[exhibit.ArtistId] = Artist.Of(await connection.QueryAsync("GET artist-" + exhibit.ArtistId));
            connections.Close(connection);
            return all;
        }

        internal Artist Load(int id)
        {
            if (artists.TryGetValue(id, out Artist known))
                return known;
            var connection = connections.Open();
            Artist artist = artists[id] = Artist.Of(connection.Query("GET artist-" + id));
            connections.Close(connection);
            return artist;
        }
    }

    public sealed class Exhibit
    {
        readonly GalleryContext context;
        Artist artist;

        public Exhibit(GalleryContext context, string title, int artistId)
        {
            this.context = context;
            Title = title;
            ArtistId = artistId;
        }

        public string Title { get; }
        public int ArtistId { get; }
        public Artist Artist => artist ??= context.Load(ArtistId);
    }

    public sealed class Artist
    {
        public string Name { get; private set; }

        public static Artist Of(string row) => new Artist { Name = row.Split(' ')[1] };
    }

    // Connections to the gallery's database, which speaks lines over TCP; they are kept.
    public sealed class Connections
    {
        readonly string host;
        readonly int port;
        readonly ConcurrentBag<Connection> idle = new ConcurrentBag<Connection>();

        public Connections(string address)
        {
            string[] at = address.Split(':');
            (host, port) = (at[0], int.Parse(at[1]));
        }

        public Connection Open() => idle.TryTake(out Connection connection) ? connection : new Connection(new TcpClient(host, port));

        public async Task<Connection> OpenAsync()
        {
            if (idle.TryTake(out Connection connection))
                return connection;
            var client = new TcpClient();
            await client.ConnectAsync(host, port);
            return new Connection(client);
        }

        public void Close(Connection connection) => idle.Add(connection);
    }

    public sealed class Connection
    {
        readonly StreamReader answers;
        readonly StreamWriter asks;

        public Connection(TcpClient client)
        {
            client.NoDelay = true;
            answers = new StreamReader(client.GetStream());
            asks = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
        }

        public string Query(string line)
        {
            asks.WriteLine(line);
            return answers.ReadLine() ?? throw new IOException("the database is closed");
        }

        public async Task<string> QueryAsync(string line)
        {
            await asks.WriteLineAsync(line);
            return await answers.ReadLineAsync() ?? throw new IOException("the database is closed");
        }
    }
}
