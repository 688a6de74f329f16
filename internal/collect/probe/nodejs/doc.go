package nodejs
